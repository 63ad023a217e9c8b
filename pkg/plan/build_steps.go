package plan

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (b *builder) warning(format string, args ...any) {
	b.plan.Warnings = append(b.plan.Warnings, fmt.Sprintf(format, args...))
}

// build makes the steps: shrink, pull, update and the rungs after it, grow.
func (b *builder) build() error {
	b.letGo()
	b.sub = b.subject()
	b.plan.Limits = b.sub.limits
	b.compareOld()
	b.hooks()
	if err := b.checkCarried(); err != nil {
		return err
	}
	for _, step := range fallen(b.policy.Steps, b.sub.total) {
		b.warning("step %s comes to fewer of %d pods than the one before: it is left out", step, b.sub.total)
	}
	if err := b.compareSpecs(); err != nil {
		return err
	}
	base := b.present
	from, _ := replicasOf(b.present.Object)
	to, _ := replicasOf(b.desired.Object)
	if to < from {
		base = b.scale(base, from, to)
	}
	base, err := b.update(base)
	if err != nil {
		return err
	}
	if to > from {
		b.scale(base, from, to)
	}
	if len(b.plan.Steps) == 0 {
		b.plan.Change.Why = "nothing to do: the object and its pods are up to date"
	}
	return nil
}

// subject reads the workload whose rules count.
func (b *builder) subject() subject {
	if b.plan.Driver == DriverClient {
		return b.carried()
	}
	return kindOf(b.desired.Object).subject(b)
}

// compareSpecs finds out whether more than template, replicas and partition
// changes, and lists what changes outside of the template.
func (b *builder) compareSpecs() error {
	version := versionOf(b.present)
	old, err := specOf(b.present, version)
	if err != nil {
		return err
	}
	like := b.desired
	if v, ok := partitionOf(b.present.Object); ok {
		if _, both := partitionOf(b.desired.Object); both {
			like = withPartition(like, v)
		}
	}
	if n, ok := replicasOf(b.present.Object); ok {
		like = withReplicas(like, n)
	}
	updated, err := specOf(like, version)
	if err != nil {
		return err
	}
	for _, field := range changedKeys(old, updated) {
		if !templateField(b.present, field) {
			b.respecified = true
		}
	}
	wanted, err := specOf(b.desired, version)
	if err != nil {
		return err
	}
	b.plan.Change.Spec = b.plan.specChanges(b.present, old, wanted)
	return nil
}

// templateField reports whether a field of the spec is what revisions are made of.
func templateField(w *cluster.Workload, field string) bool {
	if w.Kind != kruise.KindSidecarSet {
		return field == "template"
	}
	return slices.Contains(rules.SidecarSetFields(), field)
}

// add appends a step with what all have.
func (b *builder) add(s Step) {
	s.OnFailure = b.policy.OnFailure
	if s.OnFailure == "" {
		s.OnFailure = FailPause
	}
	if s.Kind != StepPause && s.Timeout == 0 {
		s.Timeout = b.timeout(len(s.Pods))
	}
	if uid := b.present.UID; uid != "" {
		s.Before = append([]Condition{{HoldsUID, uid}}, s.Before...)
	}
	b.plan.Steps = append(b.plan.Steps, s)
}

// How long a step may take when nobody says: long enough for a slow start, and
// for as many rounds as the budget makes of it. Reaching it means that something
// is stuck, not that it is slow.
const (
	patience      = 10 * time.Minute
	roundPatience = time.Minute
)

func (b *builder) timeout(pods int) time.Duration {
	if b.policy.Timeout > 0 {
		return b.policy.Timeout
	}
	l := b.sub.limits
	at := max(l.MaxUnavailable+l.MaxSurge, 1)
	rounds := (pods + at - 1) / at
	return patience + time.Duration(rounds)*(roundPatience+l.MinReady+2*max(b.plan.HookAnswer, 0))
}

// scale changes the number of pods and returns the object as it is then. A workload
// that shrinks need not have what is left of it available: pods that are broken are
// what a new template may be for.
func (b *builder) scale(base *cluster.Workload, from, to int) *cluster.Workload {
	step := Step{
		Name: "scale-" + itoa(to), Kind: StepScale,
		Title:   fmt.Sprintf("shrink from %d to %d pods", from, to),
		Patches: []Patch{b.merge(at(to, "replicas"))},
		Updated: min(b.reached(), to), Kept: max(to-b.reached(), 0),
		After: []Condition{{HoldsReplicas, itoa(to)}},
	}
	if to > from {
		step.Title = fmt.Sprintf("grow from %d to %d pods", from, to)
		step.After = append(step.After, Condition{HoldsAvailable, itoa(to)})
		if b.reached() >= b.sub.total { // no partition makes further pods old
			step.Updated, step.Kept = to, 0
		}
	}
	b.add(step)
	return withReplicas(base, to)
}

// reached is how many pods are updated after the steps so far.
func (b *builder) reached() int {
	if n := len(b.plan.Steps); n > 0 {
		return b.plan.Steps[n-1].Updated
	}
	return b.sub.updated
}

// merge is a merge patch of the object that is there.
func (b *builder) merge(body map[string]any) Patch {
	return Patch{Target: b.patched(), Type: PatchMerge, Body: body}
}

// patched names the object that patches are for; nil is the plan's own.
func (b *builder) patched() *Target {
	return b.plan.Target.Carrier
}

// partitionPatch is the patch of a partition alone.
func (b *builder) partitionPatch(v intstr.IntOrString) Patch {
	return b.merge(at(plain(v), append(strategyPath(b.present), "partition")...))
}

// plain is a value as decoded JSON.
func plain(v intstr.IntOrString) any {
	if v.Type == intstr.String {
		return v.StrVal
	}
	return int(v.IntVal)
}
