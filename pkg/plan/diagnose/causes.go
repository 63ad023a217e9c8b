package diagnose

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// decision takes over what the rollout itself says.
func (a *answer) decision(d plan.Decision) {
	for _, b := range d.Blockers {
		if a.shown(b) || b.Gate == plan.GateOwner && a.q.Hand != nil || a.paced(b, d) {
			continue
		}
		a.blocker(b, d.Verb == plan.Halt || persons[b.Gate])
	}
	switch {
	case d.Verb == plan.Halt && len(d.Blockers) == 0: // it was recorded before
		a.blocker(plan.ParseBlocker(d.Reason), true)
	case a.q.Begun && a.q.Holder == "" && (d.Verb == plan.Act || d.Verb == plan.Wait):
		a.add(GateDriver, "no process is running the rollout: the one that started it has ended", true)
	}
}

// paced reports whether a blocker is told by [answer.pace], which also knows whether the
// budget ever lets the pod go.
func (a *answer) paced(b plan.Blocker, d plan.Decision) bool {
	return b.Gate == plan.GateBudget && d.Verb == plan.Wait && a.outlook != nil && a.outlook.Driver == plan.DriverKruise
}

func (a *answer) blocker(b plan.Blocker, stuck bool) {
	if b.Gate == plan.GateHeld {
		b.Why = "paused " + b.Why
	}
	if b.Pod != "" {
		a.add(b.Gate, b.Why, stuck, b.Pod)
		return
	}
	a.add(b.Gate, b.Why, stuck)
}

// GateDriver is where a rollout is on record that nobody carries out.
const GateDriver = "driver"

// persons are gates that only a person opens.
var persons = map[string]bool{plan.GatePromote: true, plan.GateHeld: true, plan.GatePaused: true, plan.GateNotAllowed: true}

// spec says what the object's own fields hold back; a rollout on record has set them
// itself.
func (a *answer) spec(d plan.Decision) {
	o := a.outlook
	if !rules.Observed(o.Object.Object) {
		a.add(GateController, "the controller has not processed the latest change yet", false)
	}
	if a.q.Begun && d.Verb != plan.Done {
		return
	}
	old := a.outdated()
	if len(old) == 0 {
		return
	}
	switch {
	case rules.PausedOf(o.Object.Object):
		a.add(plan.GatePaused, "the update is paused in the spec", true)
	case o.Partition != "" && o.Allowed < o.Reach:
		a.add(plan.GatePartition, fmt.Sprintf("partition %s allows %d of %d pods to be updated", o.Partition, o.Allowed, o.Reach), false)
	}
	if onDelete(o.Object.Object) && o.Driver != plan.DriverKruise {
		a.add(GateDriver, "no controller updates these pods: a rollout does, or deleting them", true)
	}
	barred := map[string][]string{}
	var reasons, left []string
	for _, p := range old {
		if why := o.Barred(p); why != "" {
			if barred[why] == nil {
				reasons = append(reasons, why)
			}
			barred[why] = append(barred[why], p.Name)
		} else if o.LeftOut(p) {
			left = append(left, p.Name)
		}
	}
	if len(left) > 0 {
		a.add(GateSelector, LeftOut, false, left...)
	}
	for _, why := range reasons {
		a.add(plan.GateNotAllowed, why, true, barred[why]...)
	}
}

// GateSelector is where the update strategy's own selector leaves pods out, which is how a
// SidecarSet is tried on some pods; LeftOut says so of a pod.
const (
	GateSelector = "selector"
	LeftOut      = "not matched by updateStrategy.selector"
)

// GateController is where a controller does not do its part.
const GateController = "controller"

// onDelete reports whether a pod gets the template only when it is made again.
func onDelete(obj any) bool {
	_, never := obj.(*appsv1.ReplicaSet)
	return never || cluster.Of(obj).Strategy() == string(appsv1.OnDeleteStatefulSetStrategyType)
}

// outdated are the pods that do not carry the template.
func (a *answer) outdated() []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range a.q.Snapshot.Pods {
		if rules.Active(p) && !a.outlook.Updated(p) && a.outlook.Concerns(p) {
			out = append(out, p)
		}
	}
	return out
}

// pace says what the controller says: why no more pods at once, and which budget
// holds the next.
func (a *answer) pace(d plan.Decision) {
	o := a.outlook
	if len(o.Order) == 0 || d.Verb != plan.Wait || len(d.Blockers) > 0 && persons[d.Blockers[0].Gate] {
		return
	}
	if len(o.Order) > len(o.Pods) && !rules.PausedOf(o.Object.Object) {
		a.add(plan.GateMaxUnavailable, o.Why, false)
	}
	for _, p := range o.Order {
		if why, ok := o.Budget(p); !ok {
			a.add(plan.GateBudget, why, o.BudgetNever(p), p.Name)
			return
		}
	}
}

// unready tells of pods that are not ready, those with the same trouble together. An
// old pod that is not ready uses maxUnavailable up as a new one does.
func (a *answer) unready() {
	type group struct {
		cause plan.Blocker
		stuck bool
	}
	pods, restarts := map[group][]string{}, map[group]int{}
	var order []group
	for _, p := range a.q.Snapshot.Pods {
		if !rules.Active(p) || rules.Ready(p) || !a.outlook.Concerns(p) {
			continue
		}
		b, stuck := plan.Unready(a.q.Snapshot, p)
		b.Pod = ""
		b.Why += more(p) + placed(p) + a.old(p)
		g := group{b, stuck}
		if pods[g] == nil {
			order = append(order, g)
		}
		pods[g], restarts[g] = append(pods[g], p.Name), max(restarts[g], restartsOf(p))
	}
	for _, g := range order {
		a.addCause(Cause{Gate: g.cause.Gate, Why: g.cause.Why, Stuck: g.stuck, Pods: pods[g], Restarts: restarts[g]})
	}
}

func (a *answer) old(p *cluster.Pod) string {
	if a.outlook.Updated(p) {
		return ""
	}
	return " (old revision)"
}

// more is what the node says of the first container that waits.
func more(p *cluster.Pod) string {
	c, ok := Troubled(p)
	if !ok {
		return ""
	}
	var parts []string
	if c.Ended != "" {
		parts = append(parts, "ended with "+c.Ended)
	}
	if c.Message != "" && c.Ended == "" {
		parts = append(parts, c.Message)
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}

// restartsOf is how often the container has restarted that keeps a pod from being ready.
func restartsOf(p *cluster.Pod) int {
	c, _ := Troubled(p)
	return c.Restarts
}

// Troubled is the first container of a pod that waits for something.
func Troubled(p *cluster.Pod) (cluster.Container, bool) {
	for _, list := range [][]cluster.Container{p.InitContainers, p.Containers} {
		for _, c := range list {
			if c.Waiting != "" && c.Waiting != "PodInitializing" && c.Waiting != "ContainerCreating" {
				return c, true
			}
		}
	}
	return cluster.Container{}, false
}

// leaving tells of pods that are on their way out and held.
func (a *answer) leaving() {
	for _, p := range a.q.Snapshot.Pods {
		switch {
		case !a.outlook.Concerns(p):
		case p.Deleting && len(p.Finalizers) > 0:
			a.add(plan.GateHook, "terminating, held by finalizers: "+strings.Join(p.Finalizers, ", "), false, p.Name)
		default:
			a.held(p)
		}
	}
}

// held says which lifecycle hook a pod waits for, if any.
func (a *answer) held(p *cluster.Pod) {
	if b, ok := plan.Held(a.q.Snapshot, p); ok {
		a.add(b.Gate, b.Why, false, p.Name)
	}
}
