package controller

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// deployment is a Deployment with its ReplicaSets.
type deployment struct {
	*appsv1.Deployment
	view   *View
	limits rules.DeploymentLimits
	// current is the ReplicaSet of the present template, nil while there is none;
	// old are the others, oldest first.
	current *cluster.Workload
	old     []*cluster.Workload
	// created is the name of the ReplicaSet that this pass makes.
	created string
}

// reconcileDeployment makes one pass of a Deployment: it gives its ReplicaSets
// their sizes, creating the one of the present template when there is none.
func reconcileDeployment(v *View, o *appsv1.Deployment) Pass {
	d := &deployment{Deployment: o, view: v, limits: rules.LimitsOfDeployment(&o.Spec)}
	d.sortChildren()
	var pass Pass
	rule := rules.Deployment{Spec: &o.Spec, New: sizeOf(d.current), Old: sizesOf(d.old)}
	updated, old, rescale := rule.Rescale()
	if !rescale {
		updated, old = rule.Next()
		d.create(&pass, updated)
	}
	d.scale(&pass, updated, old)
	status := d.status()
	if o.Spec.Paused || d.complete(status) {
		d.cleanUp(&pass)
	}
	pass.Status = changed(&o.Status, status)
	pass.Again = d.untilDeadline(status)
	pass.Why = d.why(&pass)
	return pass
}

func (d *deployment) why(pass *Pass) string {
	switch {
	case len(pass.Actions) > 0:
		return "ReplicaSets get new sizes"
	case d.Spec.Paused:
		return "paused"
	case d.current == nil:
		return "the pods of the old template are not gone yet"
	}
	rs := replicaSetOf(d.current)
	return fmt.Sprintf("%d of %d updated pods are available", rs.Status.AvailableReplicas, d.limits.Replicas)
}

// sortChildren finds the ReplicaSet of the present template: the oldest, if
// several have it.
func (d *deployment) sortChildren() {
	all := slices.Clone(d.view.Children)
	slices.SortFunc(all, func(a, b *cluster.Workload) int {
		return cmp.Or(replicaSetOf(a).CreationTimestamp.Compare(replicaSetOf(b).CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, rs := range all {
		if d.current == nil && rules.SameTemplate(withoutPodHash(rs.Template), d.view.Workload.Template) {
			d.current = rs
			continue
		}
		d.old = append(d.old, rs)
	}
}

// create makes the ReplicaSet of the present template. Under Recreate it waits
// until the last old pod is gone.
func (d *deployment) create(pass *Pass, replicas int) {
	if d.current != nil || d.oldPodsRun() {
		return
	}
	rs := d.newReplicaSet(replicas)
	d.created = rs.Name
	pass.act(ScaleChild{Name: rs.Name, Replicas: replicas, New: rs})
	pass.act(scaled(rs.Name, 0, replicas))
	d.number(pass, revisionNumber(rs))
}

// oldPodsRun reports whether Recreate has to wait: a pod that terminates still
// runs.
func (d *deployment) oldPodsRun() bool {
	if d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return false
	}
	current := ""
	if d.current != nil {
		current = d.current.UID
	}
	return slices.ContainsFunc(d.view.Pods, func(p *cluster.Pod) bool {
		return p.Owner.UID != current && (p.Deleting || rules.Active(p))
	})
}

// scale writes the sizes that differ, and what the ReplicaSets have to know of
// their Deployment.
func (d *deployment) scale(pass *Pass, updated int, old []int) {
	for i, rs := range d.old {
		d.resize(pass, rs, old[i], nil)
	}
	if d.current == nil {
		return
	}
	number := max(d.newestOld()+1, revisionNumber(d.current))
	if updated > sizeOf(d.current).Replicas && d.oldPodsRun() {
		updated = sizeOf(d.current).Replicas
	}
	var renumber map[string]string
	if number != revisionNumber(d.current) {
		renumber = map[string]string{cluster.DeploymentRevisionAnnotation: strconv.FormatInt(number, 10)}
	}
	d.resize(pass, d.current, updated, renumber)
	d.number(pass, number)
}

func (d *deployment) resize(pass *Pass, rs *cluster.Workload, replicas int, annotations map[string]string) {
	have := sizeOf(rs)
	outdated := replicas > 0 && have.Recorded != nil && have.Recorded.Desired != d.limits.Replicas
	if replicas == have.Replicas && !outdated && annotations == nil {
		return
	}
	all := maps.Clone(annotations)
	if replicas != have.Replicas || outdated {
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, d.recorded())
	}
	pass.act(ScaleChild{Name: rs.Name, Replicas: replicas, Annotations: all})
	if replicas != have.Replicas {
		pass.act(scaled(rs.Name, have.Replicas, replicas))
	}
}

// number keeps the number of the present revision on the Deployment itself.
func (d *deployment) number(pass *Pass, number int64) {
	text := strconv.FormatInt(number, 10)
	if d.view.Workload.Annotations[cluster.DeploymentRevisionAnnotation] != text {
		pass.act(PatchWorkload{Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{cluster.DeploymentRevisionAnnotation: text}}}})
	}
}

func (d *deployment) newestOld() int64 {
	var newest int64
	for _, rs := range d.old {
		newest = max(newest, revisionNumber(rs))
	}
	return newest
}

func scaled(name string, from, to int) Event {
	verb := "up"
	if to < from {
		verb = "down"
	}
	return Event{Type: "Normal", Reason: "ScalingReplicaSet", Message: fmt.Sprintf("Scaled %s replica set %s from %d to %d", verb, name, from, to)}
}

// cleanUp drops old ReplicaSets without pods beyond revisionHistoryLimit, oldest
// revision first.
func (d *deployment) cleanUp(pass *Pass) {
	limit := or(d.Spec.RevisionHistoryLimit, 10)
	if limit == math.MaxInt32 || len(d.old) <= int(limit) {
		return
	}
	byRevision := slices.SortedStableFunc(slices.Values(d.old), func(a, b *cluster.Workload) int {
		return cmp.Compare(revisionNumber(a), revisionNumber(b))
	})
	for _, w := range byRevision[:len(d.old)-int(limit)] {
		rs := replicaSetOf(w)
		if rs.Status.Replicas == 0 && or(rs.Spec.Replicas, 1) == 0 && rs.Status.ObservedGeneration >= w.Generation {
			pass.act(DropChild{Name: w.Name})
		}
	}
}

// untilDeadline is after how long the rollout is late.
func (d *deployment) untilDeadline(s *appsv1.DeploymentStatus) time.Duration {
	c := deploymentCondition(s, appsv1.DeploymentProgressing)
	if !d.hasDeadline() || c == nil || d.complete(s) || d.Spec.Paused ||
		c.Reason == progressTimedOut || c.Reason == progressComplete {
		return 0
	}
	return max(c.LastUpdateTime.Add(seconds(*d.Spec.ProgressDeadlineSeconds)).Sub(d.view.Now)+time.Millisecond, 0)
}
