package emit

import "io"

// Unless returns a writer on w that asks stop before anything is written, and writes
// nothing when it has an error. What has begun is written to its end: half of it would be
// worse than none.
func Unless(stop func() error, w io.Writer) io.Writer { return &unless{stop: stop, w: w} }

type unless struct {
	stop func() error
	w    io.Writer
}

func (u *unless) Write(p []byte) (int, error) {
	if u.stop != nil {
		if err := u.stop(); err != nil {
			return 0, err
		}
		u.stop = nil
	}
	return u.w.Write(p)
}
