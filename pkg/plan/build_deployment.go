package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// deployment reads a Deployment of Kubernetes. It has no partition: a step pauses
// it once enough pods are updated, by when it may have gone further.
func (b *builder) deployment(spec *appsv1.DeploymentSpec) subject {
	l := rules.LimitsOfDeployment(spec)
	recreates := spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	if recreates { // all go before any comes
		l.MaxUnavailable, l.MaxSurge = l.Replicas, 0
	}
	let := rules.PausedOf(b.present.Object) && !rules.PausedOf(b.desired.Object)
	return subject{
		total: b.total(l.Replicas), updated: b.already(),
		limits:      Limits{l.Replicas, l.MaxUnavailable, l.MaxSurge, time.Duration(spec.MinReadySeconds) * time.Second},
		approximate: !recreates && (let || len(b.policy.Steps) > 1),
		take:        b.takesAny(newLine(byName(b.snap.Pods), b.outdated), "which old pods go first is up to their ReplicaSet"),
	}
}

// letGo has a Deployment that is paused go on, where pods shall change: pausing is how
// it is driven, and a rollout that was aborted has left it so.
func (b *builder) letGo() {
	o, ok := b.desired.Object.(*appsv1.Deployment)
	if !ok || !rules.PausedOf(b.present.Object) || !b.changed && b.already() >= b.total(rules.LimitsOfDeployment(&o.Spec).Replicas) {
		return
	}
	b.warning("%s is paused: this rollout resumes it", title(b.present.Ref))
	b.desired = withPaused(b.desired, false)
	if len(b.policy.Steps) == 0 {
		b.policy.Steps = []PolicyStep{{To: All}}
	}
}

func byName(list []*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *cluster.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// climbDeployment lets a Deployment run until so many pods are updated, and pauses
// it there.
func (b *builder) climbDeployment(base *cluster.Workload, r rung, first, last bool) (*cluster.Workload, error) {
	paused := !last || rules.PausedOf(b.desired.Object)
	n := r.updated - b.reached()
	step := Step{
		Name: "step-" + r.To.String(), Kind: StepPartition,
		Title:   fmt.Sprintf("continue until %d of %d pods are updated", r.updated, b.sub.total),
		Patches: []Patch{b.merge(at(false, "paused"))},
		Before:  []Condition{{HoldsTemplate, b.plan.Change.ToHash}},
		After:   []Condition{{HoldsTemplate, b.plan.Change.ToHash}, {HoldsPaused, strconv.FormatBool(paused)}, {HoldsUpdatedAvailable, itoa(r.updated)}},
	}
	if first {
		ops, err := b.specOps(base, withPaused(withReplicas(b.desired, replicas(base)), false))
		if err != nil {
			return nil, err
		}
		step.Name, step.Kind, step.Title = "update", StepUpdate, b.rewriteTitle(&r)
		step.Patches = []Patch{{Target: b.patched(), Type: PatchJSON, Body: ops}}
		step.Before = []Condition{{HoldsTemplate, b.plan.Change.FromHash}}
	}
	if paused {
		stop := b.merge(at(true, "paused"))
		if stop.Reached = r.updated; last {
			stop.Reached = 0
		}
		step.Patches = append(step.Patches, stop)
	} else {
		step.After = append(step.After, Condition{HoldsComplete, ""})
	}
	step.Pods, step.Updated, step.Kept = b.sub.take(n), r.updated, b.sub.total-r.updated
	b.add(step)
	return withPaused(withReplicas(b.desired, replicas(base)), paused), nil
}

// replicaSet is for what updates no pod by itself.
func (b *builder) replicaSet() subject {
	n, _ := replicasOf(b.desired.Object)
	return subject{total: b.total(n), updated: b.already(), limits: Limits{Replicas: n}}
}
