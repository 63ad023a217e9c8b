package plan

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// RestartKey is the key in [Snapshot.Verified] under which whoever restarts
// containers says how it went for one pod.
func RestartKey(step, pod string) string { return step + "/" + pod }

// containers restarts containers inside the named pods, no more at once than may
// be unavailable.
func (r *run) containers(s *Step) (Decision, bool) {
	if s.Containers == nil || r.progress.Promoted {
		return Decision{}, true
	}
	pods := map[string]*cluster.Pod{}
	down := 0
	for _, p := range r.snap.Pods {
		pods[p.Name] = p
		if rules.Active(p) && !rules.Ready(p) {
			down++
		}
	}
	var actions []Action
	var waiting, failed []Blocker
	for _, want := range s.Pods {
		p := pods[want.Name]
		if p == nil || want.UID != "" && want.UID != p.UID {
			continue // it is gone: its successor has started anew
		}
		switch answer, asked := r.snap.Verified[RestartKey(s.Name, p.Name)]; {
		case asked && answer.Done && answer.Good:
		case asked && answer.Done:
			failed = append(failed, Blocker{GateReady, p.Name, orText(answer.Text, "its containers did not restart")})
		case asked:
			down++
			waiting = append(waiting, Blocker{GateReady, p.Name, orText(answer.Text, "its containers restart")})
		case rules.Ready(p) && down >= max(r.plan.Limits.MaxUnavailable, 1):
			waiting = append(waiting, Blocker{GateBudget, p.Name, fmt.Sprintf("%d pods are not available", down)})
		default:
			down++
			actions = append(actions, Action{Restart: &Restart{PodRef{p.Namespace, p.Name, p.UID}, s.Containers.Names, s.Containers.Method}})
		}
	}
	switch {
	case len(failed) > 0:
		return r.halt(failed...), false
	case len(actions) > 0:
		return r.act(s.Title, actions...), false
	case len(waiting) > 0:
		return r.unfinished(s, waiting[:min(len(waiting), named)]...), false
	}
	return Decision{}, true
}
