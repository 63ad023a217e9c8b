package resource

import "context"

// Progress takes in which part of some work is done, from 0 to 1, and is called by several goroutines; nil takes
// in nothing.
type Progress func(done float64)

// Within is the progress of a part of the work, which begins and ends where it is done so far.
func (p Progress) Within(begin, end float64) Progress {
	if p == nil {
		return nil
	}
	return func(done float64) { p(begin + done*(end-begin)) }
}

// Of says that n of so many things are done.
func (p Progress) Of(n, all int) {
	if p != nil && all > 0 {
		p(float64(n) / float64(all))
	}
}

type progressKey struct{}

// WithProgress returns a context with which work reports how much of it is done.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// ProgressOf is what the work of a context reports to, nil for nothing.
func ProgressOf(ctx context.Context) Progress {
	p, _ := ctx.Value(progressKey{}).(Progress)
	return p
}
