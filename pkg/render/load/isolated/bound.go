package isolated

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// runtimeReserve is address space that Go's runtime reserves and does not use.
const runtimeReserve = 1 << 30

// bound ends the process before it takes more memory or time than it may. The parent
// watches the time, too.
func bound(l Limits) {
	debug.SetMemoryLimit(l.MemoryBytes / 4 * 3) // from here on memory is collected harder
	limitResources(l)
	go func() {
		deadline := time.After(l.Time + time.Second)
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-deadline:
				os.Exit(1)
			case <-tick:
				if used() > l.MemoryBytes {
					fmt.Fprintln(os.Stderr, ErrMemory)
					os.Exit(exitMemory)
				}
			}
		}
	}()
}

// used is how much memory of the machine the process has.
func used() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) - int64(s[1].Value.Uint64())
}
