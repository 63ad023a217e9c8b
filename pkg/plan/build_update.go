package plan

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// update makes the steps that bring the template to the pods. base is the object
// as they find it; what they leave is returned.
func (b *builder) update(base *cluster.Workload) (*cluster.Workload, error) {
	rungs := b.rungs()
	if !b.changed && !b.respecified && len(rungs) == 0 && !b.partitionMoves() {
		return base, nil
	}
	b.pull()
	if len(rungs) == 0 || b.plan.Driver == DriverClient && (b.changed || b.respecified) {
		var err error
		if base, err = b.rewrite(base, nil, nil); err != nil {
			return nil, err
		}
	}
	if b.plan.Driver == DriverClient {
		b.clientSteps(rungs)
		return base, nil
	}
	for i, r := range rungs {
		var err error
		if base, err = b.climb(base, r, i == 0, i == len(rungs)-1); err != nil {
			return nil, err
		}
		b.afterRung(r, i == len(rungs)-1)
	}
	return base, nil
}

// partitionMoves reports whether the desired partition is another, although no pod
// follows by it: it was raised.
func (b *builder) partitionMoves() bool {
	own, ok := b.ownPartition()
	now, both := partitionOf(b.present.Object)
	return ok && both && own != now && len(b.policy.Steps) == 0
}

// rungs are the numbers of updated pods to stop at; none when no pod is to change.
func (b *builder) rungs() []rung {
	if b.sub.partition == nil && !b.sub.approximate && b.plan.Driver != DriverClient {
		return b.atOnce()
	}
	already, reach := b.sub.updated, b.sub.total
	if b.plan.Driver != DriverClient {
		already, reach = b.bounds()
	}
	if !b.changed && already >= reach || b.plan.Driver == DriverClient && reach == 0 {
		return nil
	}
	steps := b.policy.Steps
	if len(steps) == 0 {
		steps = DefaultSteps(b.sub.total)
	}
	if len(b.policy.Steps) == 0 || b.sub.left > 0 {
		steps = upTo(steps, b.sub.total, reach)
	}
	return ladder(steps, b.sub.total, already)
}

// atOnce is the one rung of a workload whose controller stops nowhere in between;
// none where pods do not follow by themselves.
func (b *builder) atOnce() []rung {
	if !b.changed && !b.letsContinue() || b.sub.take == nil {
		return nil
	}
	if len(b.policy.Steps) > 1 {
		b.warning("%s has no partition: all pods change in one step", title(b.present.Ref))
	}
	return []rung{b.final(b.sub.total)}
}

// bounds are how many pods are updated, or let go, before the first rung, and how
// many the last may reach: what the partition of the desired spec lets go, unless
// the policy has steps of its own.
func (b *builder) bounds() (already, reach int) {
	already, reach = b.sub.updated, b.sub.total
	own, ok := b.ownPartition()
	if !ok {
		return already, reach
	}
	reach -= b.sub.left
	if !b.changed && !b.letsContinue() {
		already = max(already, min(b.allowedNow(), b.sub.total-b.sub.leftNow))
	}
	switch n := b.sub.allowed(own); {
	case n >= reach:
	case len(b.policy.Steps) == 0 || b.policy.Steps[len(b.policy.Steps)-1].To.Of(b.sub.total) == n:
		reach = n
	default:
		b.warning("the partition of the new spec, %s, gives way to the steps of the policy", own.String())
	}
	return already, reach
}

// ownPartition is the partition of the desired spec.
func (b *builder) ownPartition() (intstr.IntOrString, bool) {
	if b.sub.allowed == nil {
		return intstr.IntOrString{}, false
	}
	return partitionOf(b.desired.Object)
}

// allowedNow is how many pods the partition in force lets be updated.
func (b *builder) allowedNow() int {
	v, ok := partitionOf(b.present.Object)
	if !ok {
		return b.sub.total
	}
	return b.sub.allowed(v)
}

// upTo cuts steps at a number of pods: those beyond it come to that number, and wait for
// what they would have waited for.
func upTo(steps []PolicyStep, total, reach int) []PolicyStep {
	if reach >= total {
		return steps
	}
	out := slices.Clone(steps)
	for i := range out {
		if out[i].To.Of(total) >= reach {
			out[i].To = Amount{float64(reach), false}
		}
	}
	return out
}

// final is the one rung of a workload that cannot stop in between; what the
// policy's steps wait for is waited for there.
func (b *builder) final(total int) rung {
	last := PolicyStep{To: All}
	for _, s := range b.policy.Steps {
		last.Verify = append(last.Verify, s.Verify...)
	}
	return rung{last, total}
}

// climb makes one step: the first writes the template, all of them the partition.
func (b *builder) climb(base *cluster.Workload, r rung, first, last bool) (*cluster.Workload, error) {
	if b.sub.approximate {
		return b.climbDeployment(base, r, first, last)
	}
	var v *intstr.IntOrString
	if b.sub.partition != nil {
		v = new(b.partitionFor(r, last))
	}
	if first && (b.changed || b.respecified) {
		return b.rewrite(base, &r, v)
	}
	n := r.updated - b.reached()
	step := Step{
		Name: "step-" + r.To.String(), Kind: StepPartition,
		Title:   fmt.Sprintf("update %s: %d of %d", plural(n, "more pod"), r.updated, b.sub.total),
		Patches: []Patch{b.partitionPatch(*v)},
		Pods:    b.sub.take(n), Updated: r.updated, Kept: b.sub.total - r.updated,
		Before: []Condition{{HoldsTemplate, b.plan.Change.ToHash}, b.inForce(base)},
		After:  b.after(r.updated, v),
	}
	b.add(step)
	return withPartition(base, *v), nil
}

// partitionFor is the partition of one rung. At the end it is the desired spec's
// own where that lets the same pods follow, so that nothing is left to reconcile.
func (b *builder) partitionFor(r rung, last bool) intstr.IntOrString {
	own, ok := b.ownPartition()
	if !last || !ok {
		return b.sub.partition(r.updated, r.To.Percent)
	}
	if n := b.sub.allowed(own); n == r.updated || n > r.updated && r.updated == b.sub.total {
		return own
	}
	return b.sub.partition(r.updated, r.To.Percent)
}

// rewrite writes template and strategy, with the partition of the first rung in
// the same patch, so that no pod moves before its time. Without a rung no pod is
// meant to.
func (b *builder) rewrite(base *cluster.Workload, r *rung, v *intstr.IntOrString) (*cluster.Workload, error) {
	next := withReplicas(b.desired, replicas(base))
	if v != nil {
		next = withPartition(next, *v)
	}
	if b.plan.Driver == DriverClient {
		next = marked(next, b.plan.Change.ToHash)
	}
	ops, err := b.specOps(base, next)
	if err != nil {
		return nil, err
	}
	step := Step{
		Name: "update", Kind: StepUpdate, Title: b.rewriteTitle(r),
		Patches: []Patch{{Target: b.patched(), Type: PatchJSON, Body: ops}},
		Updated: b.sub.updated, Kept: b.sub.total - b.sub.updated,
		Before: []Condition{{HoldsTemplate, b.plan.Change.FromHash}},
		After:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
	}
	if _, ok := partitionOf(base.Object); ok {
		step.Before = append(step.Before, b.inForce(base))
	}
	if _, ok := partitionOf(next.Object); ok {
		step.After = append(step.After, b.inForce(next))
	}
	if r != nil {
		step.Updated, step.Kept = r.updated, b.sub.total-r.updated
		step.Pods = b.sub.take(r.updated - b.sub.updated)
		step.After = b.after(r.updated, v)
	}
	b.add(step)
	return next, nil
}

func replicas(w *cluster.Workload) int {
	n, _ := replicasOf(w.Object)
	return n
}

func (b *builder) specOps(base, next *cluster.Workload) ([]any, error) {
	version := versionOf(b.present)
	old, err := specOf(base, version)
	if err != nil {
		return nil, err
	}
	updated, err := specOf(next, version)
	if err != nil {
		return nil, err
	}
	return specPatch(old, updated), nil
}

func (b *builder) rewriteTitle(r *rung) string {
	what := "update the strategy"
	if b.changed {
		what = "update the template"
	}
	switch {
	case r == nil:
		return what + "; no pod changes"
	case r.updated <= b.sub.updated:
		return fmt.Sprintf("%s; %d of %s up to date already", what, b.sub.updated, plural(b.sub.total, "pod")+isAre(b.sub.total))
	case r.updated == b.sub.total && b.sub.updated == 0:
		return what + " and " + allPods(b.sub.total)
	}
	return fmt.Sprintf("%s and %d of %s", what, r.updated, plural(b.sub.total, "pod"))
}

// allPods names all of a number of pods.
func allPods(n int) string {
	if n == 1 {
		return "the only pod"
	}
	return fmt.Sprintf("all %d pods", n)
}

// inForce is the condition that the partition is the one that base has.
func (b *builder) inForce(base *cluster.Workload) Condition {
	v, _ := partitionOf(base.Object)
	return Condition{HoldsPartition, v.String()}
}

// after is what holds when so many pods are updated.
func (b *builder) after(updated int, v *intstr.IntOrString) []Condition {
	out := []Condition{{HoldsTemplate, b.plan.Change.ToHash}}
	if v != nil {
		out = append(out, Condition{HoldsPartition, v.String()}, Condition{HoldsPaused, strconv.FormatBool(rules.PausedOf(b.desired.Object))})
	}
	out = append(out, Condition{HoldsUpdatedAvailable, itoa(updated)}, Condition{HoldsSettled, ""})
	if updated == b.sub.total && b.plan.Target.Kind != kruise.KindSidecarSet {
		out = append(out, Condition{HoldsComplete, ""})
	}
	return out
}
