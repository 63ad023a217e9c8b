package factory

import (
	"runtime/debug"
	"testing"
)

// TestSpare_KeepsTheUsersGOGC checks that garbage is collected more often unless the user has set
// how often.
func TestSpare_KeepsTheUsersGOGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for gogc, want := range map[string]int{"": spared, "200": 100} {
		debug.SetGCPercent(100)
		f := New(Streams{Environ: []string{"GOGC=" + gogc}})
		f.Spare()
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("GOGC=%q: %d, want %d", gogc, got, want)
		}
	}
}
