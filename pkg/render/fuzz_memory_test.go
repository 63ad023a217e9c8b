package render_test

import (
	"bytes"
	"math/bits"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// scale is how much smaller than the defaults the limits of FuzzMemory are, so that many
// inputs can be tried: 2 GiB, which the defaults promise, are 41 MiB then.
const scale = 50

// most is what rendering may take beside its input.
const most = 2 << 30 / scale

// multiplied are the forms in which a few lines become much: entries fill one piece, of which
// there are so many.
var multiplied = []func(pieces, entries int, text string) string{
	func(pieces, entries int, text string) string { // subsets of a UnitedDeployment
		return strings.Replace(manySubsets, `image: "web:1"`, `image: "web:1", env: [`+env(entries, text)+`]`, 1) + several("    - {name: s%d}\n", pieces)
	},
	func(pieces, entries int, text string) string { // subsets of a WorkloadSpread
		return spread + several("  - {name: s%d, maxReplicas: 1}\n", pieces) + strings.Replace(several(workload, 1), `image: "web:1"`, `image: "web:1", env: [`+env(entries, text)+`]`, 1)
	},
	func(pieces, entries int, text string) string { // a SidecarSet in many workloads
		return strings.Replace(several(sidecars, 1), "image: x", "image: x, env: ["+env(entries, text)+"]", 1) + several(workload, pieces)
	},
	func(pieces, entries int, text string) string { // many SidecarSets in many workloads
		return several(sidecars, 1+entries%64) + several(workload, pieces)
	},
	func(pieces, entries int, text string) string { // a ResourceDistribution to many namespaces
		return strings.Replace(copies, "a: b", "a: b, "+pairs(entries, text), 1) + several(fleet, pieces)
	},
	func(pieces, entries int, text string) string { // a BroadcastJob on many nodes
		return strings.Replace(broadcast, "image: b", "image: b, env: ["+env(entries, text)+"]", 1) + several(machine, pieces)
	},
	func(pieces, entries int, text string) string { // image pulls on many nodes
		return several(strings.ReplaceAll("---\n"+pull, "name: b", "name: b%[1]d"), 1+entries%64) + several(machine, pieces)
	},
}

func env(n int, text string) string {
	return several("{name: E%d, value: '"+text+"'}, ", n)
}

func pairs(n int, text string) string { return several("k%d: '"+text+"', ", n) }

// FuzzMemory searches for the input that takes the most memory for its size: each doubling of
// the ratio is a branch of its own, which the fuzzer is out for. Rendering and printing stay
// within what docs/security.md promises, whether the input is rendered or refused.
func FuzzMemory(f *testing.F) {
	for form := range multiplied {
		for _, c := range []struct {
			pieces, entries uint16
			size            uint8
		}{{1, 1, 1}, {900, 60, 8}, {60, 900, 8}, {900, 1, 200}, {30, 1900, 1}, {1900, 1900, 255}} {
			f.Add(uint8(form), c.pieces, c.entries, c.size)
		}
	}
	f.Fuzz(func(t *testing.T, form uint8, pieces, entries uint16, size uint8) {
		text := multiplied[int(form)%len(multiplied)](1+int(pieces)%2000, 1+int(entries)%2000, strings.Repeat("x", int(size)))
		var refused error
		peak := peakOf(func() {
			in, err := load.Parse("in.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			limits := stage.Limits{
				OutputNodes: stage.DefaultOutputNodes / scale, OutputBytes: stage.DefaultOutputBytes / scale,
				Objects: stage.DefaultObjects / scale, Copies: stage.DefaultCopies / scale, CopyBytes: stage.DefaultCopyBytes / scale, Containers: stage.DefaultContainers / scale,
			}
			res, err := render.Render(t.Context(), in, render.Options{Limits: limits})
			if refused = err; err == nil {
				refused = emit.Stream(&bytes.Buffer{}, res.Resources, limits)
			}
		})
		t.Logf("%d doublings: form %d, %d pieces of %d entries of %d bytes: %d KiB for %d KiB, %.0f per byte; refused: %t",
			reward(peak/uint64(len(text))), form, 1+pieces%2000, 1+entries%2000, size, peak>>10, len(text)>>10, float64(peak)/float64(len(text)), refused != nil)
		if peak > most+300*uint64(len(text)) {
			t.Errorf("form %d, %d pieces of %d entries of %d bytes take %d KiB, %d may be: %v", form, 1+pieces%2000, 1+entries%2000, size, peak>>10, most>>10, refused)
		}
	})
}

// peakOf is the most that a function has in use at a time, in bytes, about.
func peakOf(work func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	now := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, peak := now(), uint64(0)
	done := make(chan bool)
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				if n := now(); n > before {
					peak = max(peak, n-before)
				}
			}
		}
	})
	work()
	close(done)
	watching.Wait()
	return peak
}

// reward has a branch for each doubling, since new branches are what a fuzzer keeps.
func reward(ratio uint64) (doublings int) {
	switch bits.Len64(ratio) {
	case 0, 1, 2, 3, 4:
	case 5:
		doublings = 5
	case 6:
		doublings = 6
	case 7:
		doublings = 7
	case 8:
		doublings = 8
	case 9:
		doublings = 9
	case 10:
		doublings = 10
	case 11:
		doublings = 11
	case 12:
		doublings = 12
	default:
		doublings = 13
	}
	return doublings
}
