package svg

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

func TestCutLimit(t *testing.T) {
	for name, c := range map[string]struct {
		events []time.Duration
		want   time.Duration
	}{
		"even":                       {[]time.Duration{0, s, 2 * s, 3 * s}, 0},
		"one pause":                  {[]time.Duration{0, s, 2 * s, 602 * s, 603 * s}, 600 * s},
		"seconds, though many":       {[]time.Duration{0, s, 2 * s, 61 * s, 62 * s}, 0},
		"a minute, and seconds":      {[]time.Duration{0, s, 61 * s, 62 * s, 77 * s, 78 * s}, 60 * s},
		"two pauses":                 {[]time.Duration{0, s, 601 * s, 602 * s, 902 * s, 903 * s}, 300 * s},
		"a pause that does not hurt": {[]time.Duration{0, 10 * s, 11 * s, 12 * s, 13 * s, 14 * s, 15 * s, 16 * s, 17 * s, 18 * s, 19 * s, 20 * s, 21 * s, 22 * s, 23 * s, 24 * s, 25 * s, 26 * s, 27 * s, 28 * s}, 0},
		"nothing but one stretch":    {[]time.Duration{0, s}, 0},
		"nothing":                    {nil, 0},
	} {
		end := time.Duration(0)
		if len(c.events) > 0 {
			end = c.events[len(c.events)-1]
		}
		if got := cutLimit(c.events, end); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestCutLimit_KeepsManyPauses: a picture of nothing but cuts says nothing.
func TestCutLimit_KeepsManyPauses(t *testing.T) {
	events := []time.Duration{0}
	for range 20 {
		last := events[len(events)-1]
		events = append(events, last+s, last+100*s)
	}
	if got := cutLimit(events, events[len(events)-1]); got != 0 {
		t.Errorf("cut at %v", got)
	}
}

// TestTimeScale_IsMonotonic: later is never further left, and all stays in the plot.
func TestTimeScale_IsMonotonic(t *testing.T) {
	forward := func(raw []uint16, a, b uint16) bool {
		events := []time.Duration{0, 70000 * s}
		for _, r := range raw {
			events = append(events, time.Duration(r)*s)
		}
		x := newTimeScale(events, 70000*s)
		if a > b {
			a, b = b, a
		}
		from, to := x.at(time.Duration(a)*s), x.at(time.Duration(b)*s)
		return left-0.01 <= from && from <= to && to <= right+0.01 && x.at(0) == left && x.at(70000*s) > right-0.01
	}
	if err := quick.Check(forward, nil); err != nil {
		t.Error(err)
	}
}

func TestTimeScale_TicksKeepTheirDistance(t *testing.T) {
	for _, end := range []time.Duration{s, 7 * s, 95 * s, 20 * time.Minute, 3 * time.Hour, 100 * 24 * time.Hour} {
		x := newTimeScale([]time.Duration{0, end}, end)
		ticks := x.ticks()
		if len(ticks) < 3 || ticks[0] != 0 {
			t.Errorf("%v: ticks %v", end, ticks)
		}
		for i := 1; i < len(ticks); i++ {
			if d := x.at(ticks[i]) - x.at(ticks[i-1]); d < tickRoom {
				t.Errorf("%v: %v and %v are %g apart", end, ticks[i-1], ticks[i], d)
			}
		}
	}
}

func TestPodTicks_AreRoundNumbers(t *testing.T) {
	for top, want := range map[int][]int{
		1: {0, 1}, 5: {0, 1, 2, 3, 4, 5}, 10: {0, 2, 4, 6, 8, 10}, 12: {0, 5, 10}, 101: {0, 20, 40, 60, 80, 100}, 2000: {0, 500, 1000, 1500, 2000},
	} {
		y := podScale{top}
		if diff := cmp.Diff(want, y.ticks()); diff != "" {
			t.Errorf("%d: %s", top, diff)
		}
	}
}

// TestColumns_KeepTheWorstSample: samples that fall onto one pixel lose no dip.
func TestColumns_KeepTheWorstSample(t *testing.T) {
	var samples []simulate.Sample
	for i := range 50_000 {
		sample := simulate.Sample{At: time.Duration(i) * time.Millisecond, Old: 10, Wanted: 10}
		if i == 33_333 {
			sample.Old, sample.OldDown = 3, 7
		}
		samples = append(samples, sample)
	}
	x := newTimeScale([]time.Duration{0, 50 * s}, 50*s)
	list := columns(samples, x, 50*s)
	worst := 10
	for _, c := range list {
		worst = min(worst, c.available())
	}
	if worst != 3 || len(list) > 2*(right-left)+2 {
		t.Errorf("worst %d in %d columns", worst, len(list))
	}
}
