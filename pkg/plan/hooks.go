package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// How long a lifecycle hook takes to be answered, as a plan assumes.
const (
	// DefaultHookAnswer is what is assumed where nothing else is said.
	DefaultHookAnswer = 5 * time.Second
	// HookNever is the assumption that no program answers.
	HookNever time.Duration = -1
	// hookPatience is for how long a pod may wait for the answer at least, before the
	// rollout halts.
	hookPatience = 10 * time.Minute
)

// neverText is how a flag spells [HookNever].
const neverText = "never"

// ParseHookAnswer reads a length of time, or never; empty is the default.
func ParseHookAnswer(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case neverText:
		return HookNever, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fault("%q is not a length of time", "write it as 30s or 5m, or never", text)
	}
	return d, nil
}

// HookAnswerText is what [ParseHookAnswer] reads.
func HookAnswerText(d time.Duration) string {
	switch {
	case d < 0:
		return neverText
	case d == 0:
		return ""
	}
	return d.String()
}

// hookLimit is how long a pod may wait for a hook before the rollout halts.
func (p *Plan) hookLimit() time.Duration { return max(hookPatience, 3*p.HookAnswer) }

// Held says which lifecycle hook a pod waits for; ok is false where it waits for none.
func Held(s Snapshot, p *cluster.Pod) (b Blocker, ok bool) {
	b, _, ok = s.held(p)
	return b, ok
}

func (s *Snapshot) held(p *cluster.Pod) (b Blocker, since time.Time, ok bool) {
	if s.Workload == nil || s.Workload.Object == nil {
		return Blocker{}, time.Time{}, false
	}
	hold, ok := rules.HeldBy(p, cluster.Of(s.Workload.Object).Lifecycle())
	if !ok {
		return Blocker{}, time.Time{}, false
	}
	why := fmt.Sprintf("lifecycle.%s holds it in %s", hold.Hook, rules.StateOf(p))
	if !hold.Since.IsZero() {
		why += " since " + hold.Since.UTC().Format(time.RFC3339)
	}
	return Blocker{Gate: GateHook, Pod: p.Name, Why: why + ": " + hold.Wants}, hold.Since, true
}
