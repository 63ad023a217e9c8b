package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// staging defines at which numbers of updated pods a rollout stops.
type staging struct {
	comparison
	subject subject
	// hasRun is whether a run of the plan tells which pods change, and not the update order.
	hasRun bool
}

// partitionMoves reports whether the desired partition differs, although no pod
// is updated by that: it was raised.
func (b *staging) partitionMoves() bool {
	own, ok := b.ownPartition()
	now, both := cluster.Of(b.present.Object).Partition()
	return ok && both && own != now && len(b.policy.Steps) == 0
}

// stages are the numbers of updated pods to stop at; none when no pod is to change.
func (b *staging) stages() []stage {
	if b.startsEmpty() {
		if len(b.policy.Steps) > 1 {
			b.warning("%s has no pods that could be held back: all are created in one step", title(b.present.Ref))
		}
		return nil
	}
	if b.subject.partition == nil && !b.subject.approximate && b.plan.Driver != DriverClient {
		return b.singleStage()
	}
	already, reach := b.subject.updated, b.subject.total
	if b.plan.Driver != DriverClient {
		already, reach = b.updatableRange()
	}
	if !b.templateChanged && already >= reach || b.plan.Driver == DriverClient && reach == 0 {
		return nil
	}
	steps := b.policy.Steps
	if len(steps) == 0 {
		steps = DefaultSteps(b.subject.total)
	}
	if len(b.policy.Steps) == 0 || b.subject.leftOut > 0 {
		steps = capSteps(steps, b.subject.total, reach)
	}
	if b.plan.Driver == DriverClient && b.templateChanged {
		already -= b.subject.created // which are checked like others
	}
	if b.templateChanged && b.subject.displaces(b.subject.total-reach) {
		steps = raiseSteps(steps, b.subject.total, min(already+b.subject.created, reach))
	}
	return resolveStages(steps, b.subject.total, already)
}

// startsEmpty reports whether the workload has no pods before the change and gets some: holding old
// pods back would create pods of the old template.
func (b *staging) startsEmpty() bool {
	from, ok := cluster.Of(b.present.Object).Replicas()
	return ok && from == 0 && b.activePods() == 0 && b.subject.total > 0
}

// DefaultSteps are the steps of a policy without any: first one pod,
// because most bad changes show at the first pod already; then a tenth, where it
// is more than that, and half, so that a change which only fails under load does
// not reach all users; then all. Nothing pauses, since a pause that was not requested
// would hang a pipeline: each step waits until its pods are available, which is
// all that can be asked without knowing the application.
func DefaultSteps(total int) []PolicyStep {
	steps := []PolicyStep{{To: Pods(1)}}
	if total > 20 {
		steps = append(steps, PolicyStep{To: Amount{10, true}})
	}
	if total > 4 {
		steps = append(steps, PolicyStep{To: Amount{50, true}})
	}
	return append(steps, PolicyStep{To: All})
}

// singleStage is the only stage of a workload whose controller cannot stop in between, with all the
// checks of the policy's steps; none where the controller does not update pods by itself.
func (b *staging) singleStage() []stage {
	if !b.templateChanged && !b.resumesController() || b.subject.order == nil {
		return nil
	}
	if len(b.policy.Steps) > 1 {
		b.warning("%s has no partition: all pods change in one step", title(b.present.Ref))
	}
	only := PolicyStep{To: All}
	for _, s := range b.policy.Steps {
		only.Verify = append(only.Verify, s.Verify...)
	}
	return []stage{{only, b.subject.total}}
}

// updatableRange are how many pods are updated, or allowed to, before the first stage, and how
// many the last may reach: what the partition of the desired spec allows, unless
// the policy has steps of its own.
func (b *staging) updatableRange() (already, reach int) {
	already, reach = b.subject.updated, b.subject.total
	own, ok := b.ownPartition()
	if !ok {
		return already, reach
	}
	reach -= b.subject.leftOut
	if !b.templateChanged && !b.resumesController() {
		already = max(already, min(b.allowedNow(), b.subject.total-b.subject.leftOutNow))
	}
	switch n := b.subject.partition.allowed(own); {
	case n >= reach:
	case len(b.policy.Steps) == 0 || b.policy.Steps[len(b.policy.Steps)-1].To.Of(b.subject.total) == n:
		reach = n
	default:
		b.warning("the partition of the new spec, %s, is ignored: the steps of the policy set it", own.String())
	}
	return already, reach
}

// resumesController reports whether the desired spec has a controller continue that updates no pod
// now.
func (b *staging) resumesController() bool {
	stopped := func(w *cluster.Workload) bool {
		return rules.PausedOf(w.Object) || cluster.Of(w.Object).Strategy() == onDelete
	}
	return b.plan.Driver != DriverClient && stopped(b.present) && !stopped(b.desired)
}

// ownPartition is the partition of the desired spec.
func (b *staging) ownPartition() (intstr.IntOrString, bool) {
	if b.subject.partition == nil {
		return intstr.IntOrString{}, false
	}
	return cluster.Of(b.desired.Object).Partition()
}

// allowedNow is how many pods the partition in force lets be updated.
func (b *staging) allowedNow() int {
	v, ok := cluster.Of(b.present.Object).Partition()
	if !ok {
		return b.subject.total
	}
	return b.subject.partition.allowed(v)
}

// capSteps limits steps to a number of pods: those beyond it update that number, and keep their
// pauses and checks.
func capSteps(steps []PolicyStep, total, reach int) []PolicyStep {
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

// raiseSteps has steps update at least a number of pods.
func raiseSteps(steps []PolicyStep, total, least int) []PolicyStep {
	out := slices.Clone(steps)
	for i := range out {
		if out[i].To.Of(total) < least {
			out[i].To = Pods(least)
		}
	}
	return out
}

// stage is one step of a policy with its number of pods.
type stage struct {
	PolicyStep
	// updated is how many pods are updated when it is done.
	updated int
}

// resolveStages resolves steps for total pods of which some are updated already. Steps
// that update no more pods than the one before are left out; their pauses and
// checks are added to that one.
func resolveStages(steps []PolicyStep, total, already int) []stage {
	var out []stage
	for _, s := range steps {
		n := s.To.Of(total)
		switch {
		case n <= already && len(out) == 0 && n < total:
			continue
		case len(out) > 0 && n <= out[len(out)-1].updated:
			last := &out[len(out)-1]
			last.Verify = append(slices.Clip(last.Verify), s.Verify...)
			if s.Pause != nil {
				last.Pause = s.Pause
			}
		default:
			out = append(out, stage{s, n})
		}
	}
	return out
}

// decreasingSteps names the steps that update fewer pods than one before: 50%,3 of 10. A
// policy is kept while its workload shrinks, so this is a warning and not an error.
func decreasingSteps(steps []PolicyStep, total int) []string {
	var out []string
	most := 0
	for _, s := range steps {
		n := s.To.Of(total)
		if n < most {
			out = append(out, s.To.String())
		}
		most = max(most, n)
	}
	return out
}

// partitionFor is the partition of one stage. At the end it is the desired spec's
// own where that allows the same pods, so that the object ends as it is desired.
func (b *staging) partitionFor(r stage, last bool) intstr.IntOrString {
	own, ok := b.ownPartition()
	if !last || !ok {
		return exactPartition(b.subject.partition, r.updated, r.To.Percent)
	}
	if n := b.subject.partition.allowed(own); n == r.updated || n > r.updated && r.updated == b.subject.total {
		return own
	}
	return exactPartition(b.subject.partition, r.updated, r.To.Percent)
}
