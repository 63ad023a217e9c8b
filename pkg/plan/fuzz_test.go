package plan_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// FuzzPolicyText: no text of a flag panics, an accepted one is written as it was read, and an
// amount is never more than all pods.
func FuzzPolicyText(f *testing.F) {
	for _, s := range [][2]string{{"1,10%,50%,100%", "1=5m"}, {"0.0001%,2147483647", "all"}, {"1e308%,+3", "10%=-1s"}, {"99.99999999999999999%", "100%"}, {"3,,", "=,="}} {
		f.Add(s[0], s[1], 7)
	}
	f.Fuzz(func(t *testing.T, steps, pauses string, pods int) {
		if len(steps)+len(pauses) > 64 {
			return
		}
		for _, parse := range []func(string){
			func(s string) { _, _ = plan.ParseOnFailure(s) }, func(s string) { _, _ = plan.ParseDriver(s) },
			func(s string) { _, _ = plan.ParseDrain(s) }, func(s string) { _, _ = plan.ParsePull(s) },
		} {
			parse(pauses)
		}
		p := plan.Policy{}
		var err error
		if p.Steps, err = plan.ParseSteps(steps); err != nil {
			return
		}
		pods = min(max(pods, 0), 1<<31-1)
		for _, s := range p.Steps {
			if n := s.To.Of(pods); n < 0 || n > pods {
				t.Errorf("%q of %d pods is %d", s.To, pods, n)
			}
			if again, err := plan.ParseAmount(s.To.String()); err != nil || again != s.To {
				t.Errorf("%q is read back as %v, %v", s.To, again, err)
			}
		}
		_ = p.PauseAfter(pauses)
	})
}
