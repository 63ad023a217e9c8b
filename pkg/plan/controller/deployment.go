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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// deployment is a Deployment with its ReplicaSets.
type deployment struct {
	*appsv1.Deployment
	view   *View
	limits rules.Limits
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
	// Find the ReplicaSet of the present template: the oldest, if several have it.
	all := slices.Clone(d.view.Children)
	slices.SortFunc(all, func(a, b *cluster.Workload) int {
		return cmp.Or(replicaSetOf(a).CreationTimestamp.Compare(replicaSetOf(b).CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, rs := range all {
		if d.current == nil && rules.SameTemplate(cluster.WithLabel(rs.Template, appsv1.DefaultDeploymentUniqueLabelKey, nil), d.view.Workload.Template) {
			d.current = rs
			continue
		}
		d.old = append(d.old, rs)
	}
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
	pass.RequeueAfter = d.untilDeadline(status)
	pass.Why = d.message(&pass)
	return pass
}

func (d *deployment) message(pass *Pass) string {
	switch {
	case len(pass.Actions) > 0:
		return "ReplicaSets get new sizes"
	case d.Spec.Paused:
		return "paused"
	case d.current == nil:
		return "the pods of the old template are not gone yet"
	}
	rs := replicaSetOf(d.current)
	return fmt.Sprintf("%d of %s available", rs.Status.AvailableReplicas, counted.With(d.limits.Replicas, "updated pod is", "updated pods are"))
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
	d.recordRevision(pass, revisionNumber(rs))
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
	d.recordRevision(pass, number)
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

// recordRevision keeps the number of the present revision on the Deployment itself.
func (d *deployment) recordRevision(pass *Pass, number int64) {
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

// The reasons of a Deployment's condition Progressing.
const (
	progressComplete  = "NewReplicaSetAvailable"
	progressUpdated   = "ReplicaSetUpdated"
	progressCreated   = "NewReplicaSetCreated"
	progressFound     = "FoundNewReplicaSet"
	progressTimedOut  = rules.ReasonProgressDeadlineExceeded
	deploymentPaused  = "DeploymentPaused"
	deploymentResumed = "DeploymentResumed"
)

// noDeadline is how a Deployment states that it has none.
const noDeadline = 1<<31 - 1

// status counts the pods of the ReplicaSets, and reports how far the rollout is.
func (d *deployment) status() *appsv1.DeploymentStatus {
	s := d.Status.DeepCopy()
	s.ObservedGeneration = d.view.Workload.Generation
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas = 0, 0, 0, 0
	asked := int32(0)
	for _, w := range append(slices.Clip(d.old), d.currentOnly()...) {
		rs := replicaSetOf(w)
		asked += or(rs.Spec.Replicas, 1)
		s.Replicas += rs.Status.Replicas
		s.ReadyReplicas += rs.Status.ReadyReplicas
		s.AvailableReplicas += rs.Status.AvailableReplicas
	}
	for _, w := range d.currentOnly() {
		s.UpdatedReplicas = replicaSetOf(w).Status.Replicas
	}
	s.UnavailableReplicas = max(asked-s.AvailableReplicas, 0)
	d.setAvailable(s)
	d.setProgressing(s)
	return s
}

func (d *deployment) currentOnly() []*cluster.Workload {
	if d.current == nil {
		return nil
	}
	return []*cluster.Workload{d.current}
}

// complete reports whether every pod is updated and available, and no other is
// left.
func (d *deployment) complete(s *appsv1.DeploymentStatus) bool {
	r := int32(d.limits.Replicas)
	return s.UpdatedReplicas == r && s.Replicas == r && s.AvailableReplicas == r
}

func (d *deployment) setAvailable(s *appsv1.DeploymentStatus) {
	if int(s.AvailableReplicas) >= d.limits.Replicas-d.limits.MaxUnavailable {
		d.setCondition(s, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
		return
	}
	d.setCondition(s, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
}

func (d *deployment) hasDeadline() bool {
	return or(d.Spec.ProgressDeadlineSeconds, noDeadline) != noDeadline
}

// setProgressing keeps the condition by which a rollout is called late. A
// rollout that is complete stays so until the template changes.
func (d *deployment) setProgressing(s *appsv1.DeploymentStatus) {
	if !d.hasDeadline() {
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
		return
	}
	now := deploymentCondition(s, appsv1.DeploymentProgressing)
	if d.pausing(s, now) || d.Spec.Paused {
		return
	}
	name := d.Name
	if d.current != nil {
		name = d.current.Name
	}
	switch {
	case d.created != "":
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressCreated, fmt.Sprintf("Created new replica set %q", d.created))
	case now == nil:
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressFound, fmt.Sprintf("Found new replica set %q", name))
	case s.Replicas == s.UpdatedReplicas && now.Reason == progressComplete:
	case d.complete(s):
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressComplete, fmt.Sprintf("ReplicaSet %q has successfully progressed.", name))
	case d.progressed(s):
		// Note a move: the deadline counts from now.
		var since metav1.Time
		if now.Status == corev1.ConditionTrue {
			since = now.LastTransitionTime
		}
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentProgressing })
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, progressUpdated, fmt.Sprintf("ReplicaSet %q is progressing.", name))
		if !since.IsZero() {
			s.Conditions[len(s.Conditions)-1].LastTransitionTime = since
		}
	case d.timedOut(now):
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionFalse, progressTimedOut, fmt.Sprintf("ReplicaSet %q has timed out progressing.", name))
	}
}

// pausing notes that the Deployment was paused or resumed, from where the
// deadline counts again. A rollout that was late before stays so.
func (d *deployment) pausing(s *appsv1.DeploymentStatus, now *appsv1.DeploymentCondition) bool {
	reason := ""
	if now != nil {
		reason = now.Reason
	}
	switch {
	case reason == progressTimedOut:
	case d.Spec.Paused && reason != deploymentPaused:
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionUnknown, deploymentPaused, "Deployment is paused")
		return true
	case !d.Spec.Paused && reason == deploymentPaused:
		d.setCondition(s, appsv1.DeploymentProgressing, corev1.ConditionUnknown, deploymentResumed, "Deployment is resumed")
		return true
	}
	return false
}

// progressed reports whether anything moved since the status was last written.
func (d *deployment) progressed(s *appsv1.DeploymentStatus) bool {
	was := &d.Status
	return s.UpdatedReplicas > was.UpdatedReplicas || s.Replicas-s.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		s.ReadyReplicas > was.ReadyReplicas || s.AvailableReplicas > was.AvailableReplicas
}

func (d *deployment) timedOut(c *appsv1.DeploymentCondition) bool {
	if c.Reason == progressComplete || c.Reason == progressTimedOut {
		return false
	}
	return c.LastUpdateTime.Add(seconds(*d.Spec.ProgressDeadlineSeconds)).Before(d.view.Now)
}

// setCondition writes a condition, unless status and reason are what they were.
func (d *deployment) setCondition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.NewTime(d.view.Now.Truncate(1e9))
	c := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
	was := deploymentCondition(s, kind)
	switch {
	case was == nil:
		s.Conditions = append(s.Conditions, c)
	case was.Status != status || was.Reason != reason:
		if was.Status == status {
			c.LastTransitionTime = was.LastTransitionTime
		}
		*was = c
	}
}

// deploymentCondition returns the condition of a type, nil without one.
func deploymentCondition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}
