package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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

// hooks has the plan assume that lifecycle hooks are answered, where the workload has any
// that its driver keeps.
func (b *builder) hooks() {
	l := b.lifecycle()
	if l == nil || l.PreDelete == nil && l.InPlaceUpdate == nil && l.PreNormal == nil {
		return
	}
	b.plan.HookAnswer = b.policy.HookAnswer
	if b.plan.HookAnswer == 0 {
		b.plan.HookAnswer = DefaultHookAnswer
	}
}

// lifecycle are the hooks of the desired workload; nil where its driver keeps none.
func (b *builder) lifecycle() *kruise.Lifecycle {
	if b.plan.Driver == DriverNative {
		return nil
	}
	if b.snap.Carrier != nil {
		return cluster.Of(b.kruised()).Lifecycle()
	}
	return cluster.Of(b.desired.Object).Lifecycle()
}

// warnHooks says which hooks the plan takes to be answered.
func (b *builder) warnHooks() {
	l := b.lifecycle()
	if b.plan.HookAnswer == 0 || l == nil {
		return
	}
	inPlace, recreated, held := 0, 0, 0
	for i := range b.plan.Steps {
		for _, s := range b.plan.Steps[i].Pods {
			if s.Mode == rules.ModeInPlace {
				inPlace++
				continue
			}
			recreated++
			if p := b.podNamed(s.Name); p != nil && rules.Hooked(l.PreDelete, p) {
				held++
			}
		}
	}
	if l.InPlaceUpdate != nil && inPlace > 0 {
		b.warnHook("inPlaceUpdate", inPlace)
	}
	if held > 0 {
		b.warnHook("preDelete", held)
	}
	if l.PreNormal != nil && recreated > 0 {
		b.warnHook("preNormal", recreated)
	}
}

func (b *builder) warnHook(name string, pods int) {
	who := "the hook lifecycle." + name + " holds " + plural(pods, "pod") + " until a program outside Kruise answers"
	if b.plan.HookAnswer < 0 {
		b.warning("%s, and the plan assumes that none does", who)
		return
	}
	b.warning("%s: the plan assumes that it takes %s each time (--hook-answer)", who, b.plan.HookAnswer)
}

func (b *builder) podNamed(name string) *cluster.Pod {
	for _, p := range b.snap.Pods {
		if p.Name == name {
			return p
		}
	}
	return nil
}

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
