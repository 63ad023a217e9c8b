package isolated

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// errNetwork is what every connection of an isolated process fails with.
var errNetwork = errors.New("rendering opens no connection")

// shut closes the ways out of the process: to a network, to programs, and to files that
// are not in the folder.
func shut(folder string) error {
	http.DefaultTransport = refusal{}
	http.DefaultClient = &http.Client{Transport: refusal{}}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errNetwork }}
	return confine(folder)
}

// refusal is an HTTP transport that has no network.
type refusal struct{}

var asked struct {
	sync.Mutex
	urls []string
}

// maxAsked bounds the addresses that are remembered.
const maxAsked = 100

// RoundTrip remembers what was asked for and refuses it.
func (refusal) RoundTrip(r *http.Request) (*http.Response, error) {
	asked.Lock()
	defer asked.Unlock()
	if len(asked.urls) < maxAsked {
		asked.urls = append(asked.urls, r.URL.String())
	}
	return nil, errNetwork
}

// Asked are the addresses that this process has asked for, and did not reach.
func Asked() []string {
	asked.Lock()
	defer asked.Unlock()
	return asked.urls
}

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
