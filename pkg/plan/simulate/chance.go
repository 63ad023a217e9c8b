package simulate

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Span is a length of time that may vary: each draw lies in [Mean-Spread,
// Mean+Spread], every value as likely as any other, and is never negative.
type Span struct{ Mean, Spread time.Duration }

// Exactly is a span that does not vary.
func Exactly(d time.Duration) Span { return Span{Mean: d} }

// ParseSpan reads "20s" and "20s±5s", which may also be spelt "20s+-5s".
func ParseSpan(text string) (Span, error) {
	mean, spread, varies := strings.Cut(strings.ReplaceAll(text, "+-", "±"), "±")
	var s Span
	var err error
	if s.Mean, err = span(mean, text); err != nil || !varies {
		return s, err
	}
	s.Spread, err = span(spread, text)
	return s, err
}

func span(part, text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(part))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration: write 20s, or 20s±5s", text)
	}
	return d, nil
}

// String spells the span as [ParseSpan] reads it.
func (s Span) String() string {
	if s.Spread == 0 {
		return s.Mean.String()
	}
	return s.Mean.String() + "±" + s.Spread.String()
}

func (s Span) draw(r *source) time.Duration {
	if s.Spread == 0 {
		return s.Mean
	}
	return max(s.Mean-s.Spread+time.Duration(r.Below(int(2*s.Spread)+1)), 0)
}

// source gives numbers that look random and follow from its seed alone
// (splitmix64). The core may not use the library's, whose seed is the clock.
type source struct{ state uint64 }

// Below returns a number in [0, n); n must not be 0.
func (s *source) Below(n int) int {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	high, _ := bits.Mul64(z^z>>31, uint64(n))
	return int(high)
}

// letters are those that Kubernetes makes names of.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// suffix returns five characters as at the end of a generated name.
func (s *source) suffix() string {
	var out [5]byte
	for i := range out {
		out[i] = letters[s.Below(len(letters))]
	}
	return string(out[:])
}
