package distort

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

// tries is how long a target tries inputs at random. The fuzzer clears and reads the counters of
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
	r, begun, n := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)), time.Now(), 0 //nolint:gosec // inputs of a test, and no secrets
	for ; time.Since(begun) < *tries && !t.Failed(); n++ {
		tryOne(t, r, next)
	}
	t.Logf("%d inputs, %.0f a second", n, float64(n)/time.Since(begun).Seconds())
}

// tryOne tries one input, and names one that fails: also where it panics, or ends the test.
func tryOne(t *testing.T, r *rand.Rand, next func(*rand.Rand) (input any, try func())) {
	t.Helper()
	input, try := next(r)
	passed := false
	defer func() {
		if !passed || t.Failed() {
			_, _ = fmt.Fprintf(os.Stderr, "%s fails with %#v\n", t.Name(), input)
		}
	}()
	try()
	passed = true
}
