package simulate

import "math/bits"

// source gives numbers that look random and follow from its seed alone
// (splitmix64). The core may not use the library's, whose seed is the clock.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n); n must not be 0.
func (s *source) below(n uint64) uint64 {
	high, _ := bits.Mul64(s.next(), n)
	return high
}

// letters are those that Kubernetes makes names of.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// suffix returns five characters as at the end of a generated name.
func (s *source) suffix() string {
	var out [5]byte
	for i := range out {
		out[i] = letters[s.below(uint64(len(letters)))]
	}
	return string(out[:])
}
