package controller

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// roll makes a round of the update. What is replaced outside the budget comes
// first, so that a refusal of the others does not hold it up.
func (s *daemonSet) roll() {
	todo := s.rule.ChooseUpdate()
	s.pass.Why = todo.Why
	burst := s.rule.Limits().Burst
	for _, p := range todo.Finished[:min(burst, len(todo.Finished))] {
		s.remove(p)
	}
	to := s.updatesTo(s.update)
	chosen := slices.Concat(todo.Broken, s.draw(todo.Candidates, todo.Room))
	for _, p := range chosen[:min(burst, len(chosen))] {
		if todo.Surge {
			s.create(p.Node)
		} else {
			s.updatePod(p, to)
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

// updatesTo says how pods come to a revision: only those made with the readiness
// gate can be updated in place.
func (s *daemonSet) updatesTo(r cluster.Revision) *updates {
	hash := cluster.Hash(r.Name)
	return &updates{
		view: s.view, all: s.revisions, update: r, policy: s.policy, needsGate: true,
		revision: hash, labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: hash},
	}
}

// updatePod updates a pod in place where that can be done, else its node gets a
// new one as soon as it is gone.
func (s *daemonSet) updatePod(p *cluster.Pod, to *updates) {
	if _, _, inPlace := to.of(p); inPlace != nil {
		s.pass.act(PatchPod{Pod: p, Change: inPlace.start(p, s.view.Now)})
		return
	}
	s.remove(p)
}
