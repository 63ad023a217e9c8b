package rules

import "fmt"

// Pending says what is missing until a step or a rollout is done, most basic
// reason first. None means done.
type Pending []string

// Done reports whether nothing is missing.
func (p Pending) Done() bool { return len(p) == 0 }

// need adds a reason unless ok.
func (p *Pending) need(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// seen adds a reason when the controller has not looked at the spec yet; what
// the status says then is about an older one.
func (p *Pending) seen(observed, generation int64) {
	p.need(observed >= generation, "the controller has not seen generation %d yet (observedGeneration %d)", generation, observed)
}

// count adds a reason when got is not want.
func (p *Pending) count(name string, got, want int32) {
	p.need(got == want, "%s is %d of %d", name, got, want)
}

// atLeast adds a reason when got is below want.
func (p *Pending) atLeast(name string, got, want int32) {
	p.need(got >= want, "%s is %d of %d", name, got, want)
}

func or(s, byDefault string) string {
	if s == "" {
		return byDefault
	}
	return s
}
