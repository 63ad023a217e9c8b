package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Pod reports why one pod of a workload was not updated, or is not ready.
func Pod(q Question, name string) Diagnosis {
	out := Diagnosis{About: "pod " + name, Causes: []Cause{}}
	p := podNamed(&q.Snapshot, name)
	a := &answer{q: &q}
	if a.outlook, _ = plan.PreviewOf(q.Snapshot, q.Now); p == nil || a.outlook == nil {
		out.Answer = "not a pod of " + q.Name
		return out
	}
	a.addPodFailure(p)
	if updated := a.outlook.Updated[p]; !updated && !p.Deleting {
		a.addPodDelay(p)
	}
	out.Causes, out.Answer = a.sorted(), a.podLine(p)
	return out
}

func (a *answer) podLine(p *cluster.Pod) string {
	list := a.sorted()
	switch {
	case p.Deleting:
		return "terminating"
	case a.outlook.Updated[p] && len(list) == 0:
		return "up to date with " + a.q.Name + " and ready"
	case a.outlook.Updated[p]:
		return "up to date with " + a.q.Name + ", not ready: " + list[0].reason()
	case len(list) == 0:
		return "on an old revision; nothing keeps it from being updated"
	}
	i := slices.IndexFunc(list, func(c Cause) bool { return !aboutReadiness[c.Gate] })
	return "on an old revision: " + list[max(i, 0)].reason()
}

// aboutReadiness are the gates about the state of a pod, not about why it is old.
var aboutReadiness = map[string]bool{plan.GateCrash: true, plan.GateImage: true, plan.GateSchedule: true, plan.GateReady: true}

// addPodFailure adds what is wrong with the pod itself.
func (a *answer) addPodFailure(p *cluster.Pod) {
	if rules.Active(p) && !rules.Ready(p) {
		b, blocked := plan.NotReadyReason(a.q.Snapshot, p)
		a.addCause(Cause{Gate: b.Gate, Why: b.Why + waitingMessage(p) + subsetNote(p), Blocked: blocked, Pods: []string{p.Name}, Restarts: restartsOf(p)})
	}
	if p.Deleting && len(p.Finalizers) > 0 {
		a.add(plan.GateHook, "terminating, held by finalizers: "+strings.Join(p.Finalizers, ", "), false, p.Name)
		return
	}
	a.addHook(p)
}

// addPodDelay adds why the pod still has an old template.
func (a *answer) addPodDelay(p *cluster.Pod) {
	o, d := a.outlook, plan.Next(a.q.Plan, a.q.Snapshot, a.q.Now)
	if !rules.Observed(o.Object.Object) {
		a.add(gateController, "the controller has not processed the latest change yet", false)
		return
	}
	if why := o.BlockedReason(p); why != "" {
		a.add(plan.GateNotAllowed, why, true, p.Name)
		return
	}
	if o.NotSelected(p) {
		a.add(GateSelector, LeftOut, false, p.Name)
		return
	}
	if a.q.Begun && d.Verb != plan.Done {
		a.addDecision(d)
	}
	a.addOwner()
	a.addQueuePosition(p)
	if why, ok := o.Budget(p); !ok {
		a.add(plan.GateBudget, why, o.BudgetNever(p), p.Name)
	}
}

// addQueuePosition adds the position of the pod in the update order.
func (a *answer) addQueuePosition(p *cluster.Pod) {
	o := a.outlook
	at := slices.Index(o.Order, p)
	switch {
	case rules.PausedOf(o.Object.Object):
		a.add(plan.GatePaused, "the update is paused in the spec of its workload", true)
	case at >= 0 && at < len(o.Pods):
		a.add(GateTurn, "next in order: the controller updates it in its next pass", false, p.Name)
	case at >= 0:
		a.add(plan.GateMaxUnavailable, counted.PodsAre(at)+" updated before it: "+o.Why, false, p.Name)
	case o.Partition != "" && o.Allowed < o.Reach:
		a.add(plan.GatePartition, fmt.Sprintf("partition %s allows %d of %s to be updated, and it is not among them", o.Partition, o.Allowed, counted.Of(o.Reach, "pod")), false)
	case onDelete(o.Object.Object):
		a.add(gateDriver, "no controller updates it: a rollout does, or deleting it", true)
	case o.Why != "":
		a.add(gateController, o.Why, false)
	}
}

// GateTurn is where only the order keeps a pod from its update.
const GateTurn = "turn"

// In reports whether a SidecarSet is in a pod, by the pod's own list.
func In(p *cluster.Pod, set string) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), set)
}

// UnmanagedPod diagnoses a pod that no supported workload owns.
func UnmanagedPod(p *cluster.Pod) Diagnosis {
	a := &answer{q: &Question{}}
	a.addPodFailure(p)
	out := Diagnosis{About: "pod " + p.Name, Causes: a.sorted(), Answer: "it belongs to no workload that can be rolled out"}
	if len(out.Causes) > 0 {
		out.Answer += ", and is not ready: " + out.Causes[0].reason()
	}
	return out
}
