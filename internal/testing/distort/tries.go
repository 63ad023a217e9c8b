package distort

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tries is how long a target tries inputs at random, on all processors. The fuzzer clears and reads the counters of
// everything that is linked after each input, a million of them where Kubernetes' API is: it tries a few hundred a
// second, and this some thousands. The fuzzer finds the way to what is rare; this covers what is near.
var tries = flag.Duration("tries", 0, "how long fuzz targets try inputs at random, instead of their seeds")

// Seeds fuzzes what is made at random of a seed.
func Seeds(f *testing.F, run func(t *testing.T, seed uint64)) {
	f.Helper()
	for seed := range uint64(16) {
		f.Add(seed)
	}
	var once sync.Once
	f.Fuzz(func(t *testing.T, seed uint64) {
		if *tries == 0 {
			run(t, seed)
			return
		}
		once.Do(func() {
			atRandom(t, func(r *rand.Rand) (input any, try func()) {
				seed := r.Uint64()
				return seed, func() { run(t, seed) }
			})
		})
	})
}

// atRandom tries inputs until the time is over or one fails.
func atRandom(t *testing.T, next func(*rand.Rand) (input any, try func())) {
	t.Helper()
	end, begun := time.Now().Add(*tries), time.Now()
	var n atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for ; time.Now().Before(end) && !t.Failed(); n.Add(1) {
				tryOne(t, r, next)
			}
		})
	}
	all.Wait()
	t.Logf("%d inputs, %.0f a second", n.Load(), float64(n.Load())/time.Since(begun).Seconds())
}

// tryOne tries one input, and names one that fails: also where it panics, or ends the test.
func tryOne(t *testing.T, r *rand.Rand, next func(*rand.Rand) (input any, try func())) {
	t.Helper()
	input, try := next(r)
	passed := false
	defer func() {
		if !passed || t.Failed() {
			fmt.Fprintf(os.Stderr, "%s fails with %#v\n", t.Name(), input)
		}
	}()
	try()
	passed = true
}
