package simulate

import (
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{
		"20s":     Exactly(20 * time.Second),
		"20s±5s":  {20 * time.Second, 5 * time.Second},
		"1m+-10s": {time.Minute, 10 * time.Second},
		"2s ± 1s": {2 * time.Second, time.Second},
		"0s":      {},
	} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("ParseSpan(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "20", "-1s", "20s±", "20s±-1s", "a±b"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("ParseSpan(%q) = %v, which it should not be", text, got)
		}
	}
}

func TestSpan_RoundTrip(t *testing.T) {
	for _, s := range []Span{{}, Exactly(time.Second), {time.Minute, 3 * time.Second}} {
		if got, err := ParseSpan(s.String()); err != nil || got != s {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
}

// TestSpan_Draw: draws stay within the span, use both of its halves, and follow
// from the seed.
func TestSpan_Draw(t *testing.T) {
	s := Span{time.Second, 400 * time.Millisecond}
	a, b := &source{7}, &source{7}
	low, high := 0, 0
	for range 1000 {
		d := s.draw(a)
		if d < 600*time.Millisecond || d > 1400*time.Millisecond {
			t.Fatalf("%v is outside of %v", d, s)
		}
		if d != s.draw(b) {
			t.Fatal("the same seed gives another time")
		}
		if d < time.Second {
			low++
		} else {
			high++
		}
	}
	if low < 400 || high < 400 {
		t.Errorf("%d draws below the mean, %d above", low, high)
	}
	if d := (Span{time.Second, time.Minute}).draw(a); d < 0 {
		t.Errorf("a negative time: %v", d)
	}
}

func TestSuffix(t *testing.T) {
	seen, s := map[string]bool{}, &source{1}
	for range 1000 {
		text := s.suffix()
		if len(text) != 5 {
			t.Fatalf("suffix %q", text)
		}
		seen[text] = true
	}
	if len(seen) < 990 {
		t.Errorf("1000 names, only %d different ones", len(seen))
	}
}

func TestClock(t *testing.T) {
	var c clock
	var got []string
	say := func(text string) func() { return func() { got = append(got, text) } }
	c.after(2, say("late"))
	c.after(1, func() {
		say("first")()
		c.after(0, say("at once"))
		c.after(-5, say("never before now"))
	})
	c.after(1, say("second"))
	for c.step(1) {
	}
	if want := []string{"first", "second", "at once", "never before now"}; !equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if c.step(1) || !c.step(2) || c.step(100) || c.at != 2 {
		t.Errorf("the clock stands at %v after %v", c.at, got)
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
