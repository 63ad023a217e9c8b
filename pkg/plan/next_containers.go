package plan

import (
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
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
	budgets         *permits
	actions         []Action
	waiting, failed []Blocker
	// next is when a pod in trouble will have failed.
	next time.Time
}

// containers restarts containers inside the named pods, no more at once than may
// be unavailable, and than budgets allow. Those that were asked to are looked at
// first: they may still look well.
func (r *run) containers(s *Step) (Decision, bool) {
	if s.Containers == nil || r.progress.Promoted {
		return Decision{}, true
	}
	c := &restarts{run: r, step: s, budgets: newPermits(r.snap)}
	for _, p := range c.todo() {
		c.look(p)
	}
	switch {
	case len(c.failed) > 0:
		return r.halt(c.failed...), false
	case len(c.actions) > 0:
		return r.act(s.Title, c.actions...), false
	case len(c.waiting) > 0:
		d := r.unfinished(s, c.waiting[:min(len(c.waiting), named)]...)
		if d.Verb == Wait {
			d.Until = earliest(earliest(d.Until, c.next), r.nextAvailable())
		}
		return d, false
	}
	return Decision{}, true
}

// todo are the pods of the step that are still to be asked; it counts those that are down.
func (c *restarts) todo() (list []*cluster.Pod) {
	pods := map[string]*cluster.Pod{}
	for _, p := range c.snap.Pods {
		pods[p.Name] = p
		if rules.Active(p) && !c.available(p) {
			c.down++
		}
	}
	for _, want := range c.step.Pods {
		// One that is gone needs nothing: its successor has restarted.
		if p := pods[want.Name]; p != nil && (want.UID == "" || want.UID == p.UID) && rules.Active(p) && !c.asked(p) {
			list = append(list, p)
		}
	}
	return list
}

// available reports whether a pod counts as up.
func (c *restarts) available(p *cluster.Pod) bool {
	return rules.Available(p, c.plan.Limits.MinReady, c.now)
}

// asked looks at a pod whose restart was asked for, and is false for any other.
func (c *restarts) asked(p *cluster.Pod) bool {
	answer, asked := c.snap.Verified[RestartKey(c.step.Name, p.Name)]
	switch {
	case !asked || answer.Done && answer.Good:
	case answer.Done:
		c.failed = append(c.failed, Blocker{GateReady, p.Name, orText(answer.Text, "its containers did not restart")})
	default:
		c.under(p, orText(answer.Text, "its containers restart"))
	}
	return asked
}

// look decides about a pod that was not asked yet.
func (c *restarts) look(p *cluster.Pod) {
	if rules.Ready(p) {
		if limit := max(c.plan.Limits.MaxUnavailable, 1); c.down >= limit {
			c.waiting = append(c.waiting, Blocker{GateMaxUnavailable, p.Name, fmt.Sprintf("%s not available, and maxUnavailable lets %d be", are(c.down), limit)})
			return
		}
		if why, ok := c.permitted(p); !ok {
			c.waiting = append(c.waiting, Blocker{GateBudget, p.Name, why})
			return
		}
	}
	if c.available(p) {
		c.down++
	}
	how := c.step.Containers
	r := Restart{PodRef{p.Namespace, p.Name, p.UID}, how.Names, how.Method, how.RestartStrategy}
	c.actions = append(c.actions, Action{Restart: &r})
}

func are(pods int) string {
	if pods == 1 {
		return "1 pod is"
	}
	return plural(pods, "pod") + " are"
}

// permitted asks the budgets that cover a pod whether one more may be down: none of
// them hears of a container that restarts.
func (c *restarts) permitted(p *cluster.Pod) (why string, ok bool) {
	if why, ok = c.budgets.allow(p, kruise.PubUpdateOperation); ok {
		why, ok = c.budgets.evict(p)
	}
	return why, ok
}

// under looks at a pod whose containers restart: one that was ready is down meanwhile,
// to the budgets too, and one that cannot come back ends the rollout.
func (c *restarts) under(p *cluster.Pod, text string) {
	if c.available(p) {
		c.down++
	}
	if rules.Ready(p) {
		_, _ = c.permitted(p) // takes what it was given before
	}
	b, grace, bad := trouble(p)
	if !bad {
		c.waiting = append(c.waiting, Blocker{GateReady, p.Name, text})
		return
	}
	due := later(sinceNotReady(p), c.driven()).Add(grace)
	if c.now.Before(due) {
		c.next = earliest(c.next, due)
		c.waiting = append(c.waiting, b)
		return
	}
	c.failed = append(c.failed, b)
}
