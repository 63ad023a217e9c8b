package controller

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonSet is an Advanced DaemonSet, or one of Kubernetes, in one pass. The
// rules are the same; what Kruise adds is not set for the other.
type daemonSet struct {
	view *View
	pass Pass
	rule rules.DaemonSet
	// update is the newest revision, revisions are all.
	update    cluster.Revision
	revisions []cluster.Revision
	policy    rules.UpdatePolicy
}

// reconcileDaemonSet makes one pass of an Advanced DaemonSet
// (docs/kruise/workloads.md#advanced-daemonset).
func reconcileDaemonSet(v *View, o *kruise.DaemonSet) Pass {
	s := newDaemonSet(v, &o.Spec, o.Status.CollisionCount)
	s.rule.Scheduled = int(o.Status.DesiredNumberScheduled)
	s.policy = rules.PolicyOf(o)
	s.run()
	status := o.Status
	s.count(&status)
	status.UpdateRevision = cluster.Hash(s.update.Name)
	s.pass.Status = changed(&o.Status, &status)
	v.dropRevisions(&s.pass, s.revisions, o.Spec.RevisionHistoryLimit, s.update.Name)
	return s.pass
}

// reconcileNativeDaemonSet makes one pass of a DaemonSet of Kubernetes. The older
// mark of an updated pod is not looked at: only an API server counts it up.
func reconcileNativeDaemonSet(v *View, o *appsv1.DaemonSet) Pass {
	s := newDaemonSet(v, rules.AsDaemonSetSpec(&o.Spec), o.Status.CollisionCount)
	s.rule.TemplateGeneration = ""
	s.rule.Scheduled = int(o.Status.DesiredNumberScheduled)
	s.policy = rules.PolicyRecreate
	s.run()
	var n kruise.DaemonSetStatus
	s.count(&n)
	status := *o.Status.DeepCopy()
	status.ObservedGeneration, status.DesiredNumberScheduled = n.ObservedGeneration, n.DesiredNumberScheduled
	status.CurrentNumberScheduled, status.UpdatedNumberScheduled = n.CurrentNumberScheduled, n.UpdatedNumberScheduled
	status.NumberMisscheduled, status.NumberReady = n.NumberMisscheduled, n.NumberReady
	status.NumberAvailable, status.NumberUnavailable = n.NumberAvailable, n.NumberUnavailable
	s.pass.Status = changed(&o.Status, &status)
	v.dropRevisions(&s.pass, s.revisions, o.Spec.RevisionHistoryLimit, s.update.Name)
	return s.pass
}

func newDaemonSet(v *View, spec *kruise.DaemonSetSpec, collisions *int32) *daemonSet {
	s := &daemonSet{view: v}
	s.update, s.revisions = v.syncRevision(&s.pass, or(collisions, 0), "")
	s.rule = rules.DaemonSet{
		Spec: spec, Update: s.update.Name, TemplateGeneration: v.Workload.Annotations[appsv1.DeprecatedTemplateGeneration],
		Nodes: daemonNodes(v, &spec.Template.Spec), Now: v.Now,
	}
	return s
}

// run does what there is to do. As long as pods come and go for other reasons,
// the update waits.
func (s *daemonSet) run() {
	held := s.lookAfter()
	if !s.manage() && !held {
		s.roll()
	}
	s.pass.lookAgain(untilAvailable(s.view.Pods, s.rule.Spec.MinReadySeconds, s.view.Now))
}

// lookAfter brings in-place updates forward, and deletes the pods that their hook
// has released; it reports whether there were any.
func (s *daemonSet) lookAfter() bool {
	released := false
	for _, p := range s.view.Pods {
		if !rules.Active(p) {
			continue
		}
		if rules.StateOf(p) == rules.StatePreparingDelete && s.remove(p) {
			released = true
			continue
		}
		var c cluster.PodChange
		s.pass.lookAgain(s.view.refreshInPlace(&c, p))
		if !empty(&c) {
			s.pass.act(PatchPod{Pod: p, Change: c})
		}
	}
	return released
}

// manage creates and removes pods so that there is one per node, and reports
// whether it did anything.
func (s *daemonSet) manage() bool {
	todo := s.rule.Manage()
	for _, node := range todo.Create {
		s.create(node)
	}
	acted := len(todo.Create) > 0
	for _, p := range todo.Remove {
		acted = s.remove(p) || acted
	}
	if acted {
		s.pass.Why = fmt.Sprintf("%d pods are missing, %d are too many", len(todo.Create), len(todo.Remove))
	}
	return acted
}

// create makes a pod of the newest revision on a node.
func (s *daemonSet) create(node string) {
	a := CreatePod{
		Prefix: s.view.Workload.Name + "-", Revision: s.update.Name, Node: node,
		Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: cluster.Hash(s.update.Name)},
	}
	if g := s.rule.TemplateGeneration; g != "" {
		a.Labels[templateGenerationLabel] = g
	}
	if s.policy != rules.PolicyRecreate {
		a.Gates = []string{kruise.InPlaceUpdateReady}
	}
	s.pass.act(a)
}

// templateGenerationLabel is the label that the template generation marks
// pods with.
const templateGenerationLabel = "pod-template-generation"

// remove deletes a pod, or has it wait for its hook; it reports whether it wrote.
func (s *daemonSet) remove(p *cluster.Pod) bool {
	to, now := rules.StateToDelete(p, s.rule.Spec.Lifecycle)
	switch {
	case now:
		s.pass.act(DeletePod{Pod: p})
		return true
	case rules.StateOf(p) == to:
		return false
	}
	var c cluster.PodChange
	enterState(&c, p, to, s.rule.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c})
	return true
}

// count fills in the status. Of each node the oldest pod counts, also while it
// terminates.
func (s *daemonSet) count(out *kruise.DaemonSetStatus) {
	n := kruise.DaemonSetStatus{
		ObservedGeneration: s.view.Workload.Generation,
		CollisionCount:     out.CollisionCount, Conditions: out.Conditions,
	}
	for _, node := range s.rule.Nodes {
		switch {
		case !node.ShouldRun:
			n.NumberMisscheduled++
			continue
		case len(node.Pods) == 0:
			n.DesiredNumberScheduled++
			continue
		}
		n.DesiredNumberScheduled++
		n.CurrentNumberScheduled++
		oldest := slices.MinFunc(node.Pods, func(a, b *cluster.Pod) int { return a.Created.Compare(b.Created) })
		ready, available, updated := s.rule.Standing(oldest)
		n.NumberReady += one(ready)
		n.NumberAvailable += one(available)
		n.UpdatedNumberScheduled += one(updated)
	}
	n.NumberUnavailable = n.DesiredNumberScheduled - n.NumberAvailable
	*out = n
}
