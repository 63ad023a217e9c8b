package factory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// How far the heap of the process may grow before garbage is collected. A GOGC in the environment
// takes precedence over all that is decided here.
const (
	// startingGrowth is the growth until the first collection, in percent. What a process
	// allocates to start stays in use, so the collections during the start free nothing: the
	// first one comes at 12 MiB instead of 4.
	startingGrowth = 300
	// usualGrowth is Go's default.
	usualGrowth = 100
)

// StartHeap is for the beginning of a process.
func StartHeap() {
	if os.Getenv("GOGC") == "" {
		startHeap()
	}
}

// startHeap has the usual growth begin with the first collection: then the cleanup runs, since
// nothing refers to the object.
func startHeap() {
	debug.SetGCPercent(startingGrowth)
	runtime.AddCleanup(&struct{ _ [32]byte }{}, func(percent int) {
		heapLock.Lock()
		defer heapLock.Unlock()
		if heapGrowth() == startingGrowth {
			debug.SetGCPercent(percent)
		}
	}, usualGrowth)
}

var heapLock sync.Mutex

// SetHeapGrowth has garbage collected when the heap has grown by percent over what was in use
// after the last collection.
func SetHeapGrowth(percent int) {
	if os.Getenv("GOGC") == "" {
		heapLock.Lock()
		defer heapLock.Unlock()
		debug.SetGCPercent(percent)
	}
}

// heapGrowth reads the present growth, in percent.
func heapGrowth() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
