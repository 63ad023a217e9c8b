package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// roll looks after updates under way and, unless a lifecycle state changed, takes
// the next pods (docs/kruise/workloads.md#one-reconcile, step 7).
func (s *cloneSet) roll() {
	if s.refresh() {
		s.why("lifecycle states change")
		return
	}
	choice := s.rule.TakeUpdate()
	s.why(choice.Why)
	target := s.update
	if choice.Back {
		target = s.current
	}
	to := s.updatesTo(target)
	for _, p := range choice.Pods {
		if !s.updatePod(p, to) {
			s.pass.Why = s.failed
			return
		}
	}
}

// refresh brings the in-place updates and lifecycle states of all pods forward,
// and reports whether a state changed.
func (s *cloneSet) refresh() bool {
	moved := false
	for _, p := range s.rule.Restless() {
		var c cluster.PodChange
		s.pass.lookAgain(s.view.refreshInPlace(&c, p))
		if to := s.nextState(p); to != rules.StateOf(p) {
			enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
			moved = true
		}
		if !empty(&c) {
			s.pass.act(PatchPod{Pod: p, Change: c})
		}
	}
	return moved
}

func (s *cloneSet) nextState(p *cluster.Pod) rules.LifecycleState {
	state := rules.StateOf(p)
	if state == rules.StateNormal || state == rules.StateNone {
		return state
	}
	return rules.NextState(p, rules.Refresh{
		Lifecycle: s.Spec.Lifecycle, AtUpdate: rules.AtRevision(p, s.update), WaitForNode: true,
		InPlaceDone: state == rules.StateUpdating && s.view.inPlaceDone(p),
	})
}

// updatesTo says how pods come to a revision: the update's or, for a rollback, the
// current one.
func (s *cloneSet) updatesTo(target string) *updates {
	u := &updates{
		view: s.view, all: s.revisions, policy: rules.UpdatePolicy(s.rolling().PodUpdatePolicy),
		revision: target, grace: s.grace(),
		labels: map[string]string{
			appsv1.ControllerRevisionHashLabelKey:  target,
			appsv1.DefaultDeploymentUniqueLabelKey: cluster.Hash(target),
		},
	}
	for _, r := range s.revisions {
		if r.Name == target {
			u.update = r
		}
	}
	return u
}

// updatePod updates one pod; false ends the pass.
func (s *cloneSet) updatePod(p *cluster.Pod, to *updates) bool {
	mode, why, inPlace := to.of(p)
	switch {
	case inPlace != nil:
		return s.updateInPlace(p, inPlace)
	case mode == rules.ModeNotAllowed:
		s.failed = fmt.Sprintf("pod %s cannot be updated in place, and the policy is InPlaceOnly: %s", p.Name, why)
		return false
	}
	s.mark(p, to.revision)
	return true
}

// mark has a pod replaced: it is deleted in a later pass.
func (s *cloneSet) mark(p *cluster.Pod, target string) {
	var c cluster.PodChange
	label(&c, kruise.SpecifiedDeleteLabel, "true")
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.event("SuccessfulUpdatePodReCreate", fmt.Sprintf("successfully patch pod %s specified-delete for update(revision %s)", p.Name, target))
}

// updateInPlace begins the update, or has the pod wait for its hook.
func (s *cloneSet) updateInPlace(p *cluster.Pod, u *inPlaceUpdate) bool {
	to, err := rules.StateToUpdate(p, s.Spec.Lifecycle)
	if err != nil {
		s.failed = err.Error()
		return false
	}
	var c cluster.PodChange
	if to == rules.StatePreparingUpdate {
		if rules.StateOf(p) != to {
			enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
			s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
		}
		return true
	}
	c = u.start(p, s.view.Now)
	enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.pass.lookAgain(seconds(s.grace()))
	s.event("SuccessfulUpdatePodInPlace", fmt.Sprintf("successfully update pod %s in-place(revision %s)", p.Name, u.revision))
	return true
}
