package plan

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// RestartKey is the key in [Snapshot.Verified] under which whoever restarts
// containers says how it went for one pod.
func RestartKey(step, pod string) string { return step + "/" + pod }

// restarts is one step that restarts containers.
type restarts struct {
	*run
	step *Step
	// down counts pods that are not available, those that are asked to restart
	// among them.
	down            int
	actions         []Action
	waiting, failed []Blocker
}

// containers restarts containers inside the named pods, no more at once than may
// be unavailable.
func (r *run) containers(s *Step) (Decision, bool) {
	if s.Containers == nil || r.progress.Promoted {
		return Decision{}, true
	}
	c := &restarts{run: r, step: s}
	pods := map[string]*cluster.Pod{}
	for _, p := range r.snap.Pods {
		pods[p.Name] = p
		if rules.Active(p) && !rules.Ready(p) {
			c.down++
		}
	}
	for _, want := range s.Pods {
		// One that is gone needs nothing: its successor has started anew.
		if p := pods[want.Name]; p != nil && (want.UID == "" || want.UID == p.UID) {
			c.look(p)
		}
	}
	switch {
	case len(c.failed) > 0:
		return r.halt(c.failed...), false
	case len(c.actions) > 0:
		return r.act(s.Title, c.actions...), false
	case len(c.waiting) > 0:
		return r.unfinished(s, c.waiting[:min(len(c.waiting), named)]...), false
	}
	return Decision{}, true
}

// look decides about one pod.
func (c *restarts) look(p *cluster.Pod) {
	switch answer, asked := c.snap.Verified[RestartKey(c.step.Name, p.Name)]; {
	case asked && answer.Done && answer.Good:
	case asked && answer.Done:
		c.failed = append(c.failed, Blocker{GateReady, p.Name, orText(answer.Text, "its containers did not restart")})
	case asked:
		c.down++
		c.waiting = append(c.waiting, Blocker{GateReady, p.Name, orText(answer.Text, "its containers restart")})
	case rules.Ready(p) && c.down >= max(c.plan.Limits.MaxUnavailable, 1):
		c.waiting = append(c.waiting, Blocker{GateBudget, p.Name, fmt.Sprintf("%d pods are not available", c.down)})
	default:
		c.down++
		c.actions = append(c.actions, Action{Restart: &Restart{PodRef{p.Namespace, p.Name, p.UID}, c.step.Containers.Names, c.step.Containers.Method}})
	}
}
