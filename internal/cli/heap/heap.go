// Package heap decides how far the heap of the process may grow before garbage is collected.
// A GOGC in the environment takes precedence over all that is decided here.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// starting is the growth until the first collection, in percent. What a process
	// allocates to start stays in use, so the collections during the start free nothing: the
	// first one comes at 12 MiB instead of 4.
	starting = 300
	// usual is Go's default.
	usual = 100
)

// Start is for the beginning of a process.
func Start() {
	if os.Getenv("GOGC") == "" {
		start()
	}
}

// start has the usual growth begin with the first collection: then the cleanup runs, since
// nothing refers to the object.
func start() {
	debug.SetGCPercent(starting)
	runtime.AddCleanup(&struct{ _ [32]byte }{}, func(percent int) {
		changing.Lock()
		defer changing.Unlock()
		if growth() == starting {
			debug.SetGCPercent(percent)
		}
	}, usual)
}

var changing sync.Mutex

// SetGrowth has garbage collected when the heap has grown by percent over what was in use
// after the last collection.
func SetGrowth(percent int) {
	if os.Getenv("GOGC") == "" {
		changing.Lock()
		defer changing.Unlock()
		debug.SetGCPercent(percent)
	}
}

// growth reads the present growth, in percent.
func growth() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
