package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// roll looks after updates under way and, unless a lifecycle state changed, takes
// the next pods (semantics workloads 1.5, step 7).
func (s *cloneSet) roll() {
	if s.refresh() {
		s.why("lifecycle states change")
		return
	}
	choice := s.rule.ChooseUpdate()
	s.why(choice.Why)
	target := s.update
	if choice.Back {
		target = s.current
	}
	for _, p := range choice.Pods {
		if !s.updatePod(p, target) {
			s.pass.Why = s.failed
			return
		}
	}
}

// refresh brings the in-place updates and lifecycle states of all pods forward,
// and reports whether a state changed.
func (s *cloneSet) refresh() bool {
	moved := false
	for _, p := range s.view.Pods {
		if !rules.Active(p) {
			continue
		}
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

// cloneSetChange is an update from one revision to another.
type cloneSetChange struct {
	rules.Eligibility
	known   bool
	inPlace inPlaceUpdate
}

// change answers once for all pods of a revision.
func (s *cloneSet) change(p *cluster.Pod, target string) *cloneSetChange {
	key := [2]string{cluster.Hash(rules.RevisionOf(p)), target}
	if c := s.changes[key]; c != nil {
		return c
	}
	old, known := revisionOf(s.revisions, p)
	t := rules.TemplateChange{Old: old, Policy: rules.UpdatePolicy(s.rolling().PodUpdatePolicy), Gates: s.view.Gates}
	for _, r := range s.revisions {
		if r.Name == target {
			t.New = r
		}
	}
	c := &cloneSetChange{Eligibility: t.Eligible(), known: known, inPlace: inPlaceUpdate{
		spec: t.InPlaceSpec(), revision: target, grace: s.grace(),
		labels: map[string]string{
			appsv1.ControllerRevisionHashLabelKey:  target,
			appsv1.DefaultDeploymentUniqueLabelKey: cluster.Hash(target),
		},
	}}
	s.changes[key] = c
	return c
}

// updatePod updates one pod; false ends the pass.
func (s *cloneSet) updatePod(p *cluster.Pod, target string) bool {
	change := s.change(p, target)
	mode, why := change.ForPod(p, change.known, false)
	switch mode {
	case rules.ModeNotAllowed:
		s.failed = fmt.Sprintf("pod %s cannot be updated in place, and the policy is InPlaceOnly: %s", p.Name, why)
		return false
	case rules.ModeRecreate:
		s.mark(p, target)
		return true
	}
	return s.updateInPlace(p, change, target)
}

// mark has a pod replaced: it is deleted in a later pass.
func (s *cloneSet) mark(p *cluster.Pod, target string) {
	var c cluster.PodChange
	label(&c, kruise.SpecifiedDeleteLabel, "true")
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.event("SuccessfulUpdatePodReCreate", fmt.Sprintf("successfully patch pod %s specified-delete for update(revision %s)", p.Name, target))
}

// updateInPlace begins the update, or has the pod wait for its hook.
func (s *cloneSet) updateInPlace(p *cluster.Pod, change *cloneSetChange, target string) bool {
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
	c = change.inPlace.start(p, s.view.Now)
	enterState(&c, p, to, s.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c, Permit: true})
	s.pass.lookAgain(seconds(s.grace()))
	s.event("SuccessfulUpdatePodInPlace", fmt.Sprintf("successfully update pod %s in-place(revision %s)", p.Name, target))
	return true
}
