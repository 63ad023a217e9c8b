package controller

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonChange is the update from one revision to the newest.
type daemonChange struct {
	rules.Eligibility
	known   bool
	inPlace inPlaceUpdate
}

// change answers once for all pods of a revision.
func (s *daemonSet) change(p *cluster.Pod) *daemonChange {
	hash := cluster.Hash(rules.RevisionOf(p))
	if c := s.changes[hash]; c != nil {
		return c
	}
	old, known := revisionOf(s.revisions, p)
	t := rules.TemplateChange{Old: old, New: s.update, Policy: s.policy, Gates: s.view.Gates}
	to := cluster.Hash(s.update.Name)
	c := &daemonChange{Eligibility: t.Eligible(), known: known, inPlace: inPlaceUpdate{
		spec: t.InPlaceSpec(), revision: to, labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: to},
	}}
	s.changes[hash] = c
	return c
}

// roll makes a round of the update. What is replaced outside the budget comes
// first, so that a refusal of the others does not hold it up.
func (s *daemonSet) roll() {
	todo := s.rule.ChooseUpdate()
	s.pass.Why = todo.Why
	burst := s.rule.Limits().Burst
	for _, p := range todo.Finished[:min(burst, len(todo.Finished))] {
		s.remove(p)
	}
	chosen := append(todo.Broken, s.draw(todo.Candidates, todo.Room)...)
	for _, p := range chosen[:min(burst, len(chosen))] {
		if todo.Surge {
			s.create(p.Node)
		} else {
			s.updatePod(p)
		}
	}
}

// draw takes n of the pods at random.
func (s *daemonSet) draw(list []*cluster.Pod, n int) []*cluster.Pod {
	for i := range n {
		j := i + s.view.Pick(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:n]
}

// updatePod updates a pod in place where that can be done, else its node gets a
// new one as soon as it is gone.
func (s *daemonSet) updatePod(p *cluster.Pod) {
	if s.policy != rules.PolicyRecreate {
		change := s.change(p)
		if mode, _ := change.ForPod(p, change.known, true); mode != rules.ModeRecreate {
			s.pass.act(PatchPod{Pod: p, Change: change.inPlace.start(p, s.view.Now)})
			return
		}
	}
	s.remove(p)
}
