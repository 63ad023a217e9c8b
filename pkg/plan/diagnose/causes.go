package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// addDecision adds the blockers of the rollout's own decision.
func (a *answer) addDecision(d plan.Decision) {
	for _, b := range d.Blockers {
		if a.reportedWithPods(b) || b.Gate == plan.GateOwner && a.q.Controller != nil || a.reportedByPace(b, d) {
			continue
		}
		a.addBlocker(b, d.Verb == plan.Halt || userGates[b.Gate])
	}
	switch {
	case d.Verb == plan.Halt && len(d.Blockers) == 0: // it was recorded before
		a.addBlocker(plan.ParseBlocker(d.Reason), true)
	case a.q.Begun && a.q.Holder == "" && (d.Verb == plan.Act || d.Verb == plan.Wait):
		promotes := len(d.Blockers) > 0 && d.Blockers[0].Gate == plan.GatePromote
		a.add(gateDriver, "no process is running the rollout: the one that started it has ended", !promotes)
	}
}

// reportedByPace reports whether a blocker is reported by [answer.addPace], which also knows whether the
// budget ever lets the pod go.
func (a *answer) reportedByPace(b plan.Blocker, d plan.Decision) bool {
	return b.Gate == plan.GateBudget && d.Verb == plan.Wait && a.outlook != nil && a.outlook.Driver == plan.DriverKruise
}

func (a *answer) addBlocker(b plan.Blocker, blocked bool) {
	if b.Gate == plan.GateHeld {
		b.Why = "paused " + b.Why
	}
	if b.Pod != "" {
		a.add(b.Gate, b.Why, blocked, b.Pod)
		return
	}
	a.add(b.Gate, b.Why, blocked)
}

// gateDriver is where a recorded rollout has no executor.
const gateDriver = "driver"

// userGates are gates that only a user opens.
var userGates = map[string]bool{plan.GatePromote: true, plan.GateHeld: true, plan.GatePaused: true, plan.GateNotAllowed: true}

// addSpec adds the fields of the object that hold pods back; in a recorded rollout the rollout
// itself has set them.
func (a *answer) addSpec(d plan.Decision) {
	o := a.outlook
	if !rules.Observed(o.Object.Object) {
		a.add(gateController, "the controller has not processed the latest change yet", false)
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
		a.add(plan.GatePartition, fmt.Sprintf("partition %s allows %d of %s to be updated", o.Partition, o.Allowed, counted.Of(o.Reach, "pod")), false)
	}
	if onDelete(o.Object.Object) && o.Driver != plan.DriverKruise {
		a.add(gateDriver, "no controller updates these pods: a rollout does, or deleting them", true)
	}
	barred := map[string][]string{}
	var reasons, left []string
	for _, p := range old {
		if why := o.BlockedReason(p); why != "" {
			if barred[why] == nil {
				reasons = append(reasons, why)
			}
			barred[why] = append(barred[why], p.Name)
		} else if o.NotSelected(p) {
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
// SidecarSet is tried on some pods; LeftOut is the text about a pod.
const (
	GateSelector = "selector"
	LeftOut      = "not matched by updateStrategy.selector"
)

// gateController is where a controller does not do its part.
const gateController = "controller"

// onDelete reports whether a pod gets the template only when it is made again.
func onDelete(obj any) bool {
	_, never := obj.(*appsv1.ReplicaSet)
	return never || cluster.Of(obj).Strategy() == string(appsv1.OnDeleteStatefulSetStrategyType)
}

// outdated are the pods that do not carry the template.
func (a *answer) outdated() []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range a.q.Snapshot.Pods {
		if rules.Active(p) && !a.outlook.Updated[p] && a.outlook.Matches[p] {
			out = append(out, p)
		}
	}
	return out
}

// addPace adds why the controller updates no more pods at once, and which budget holds the next.
func (a *answer) addPace(d plan.Decision) {
	o := a.outlook
	if len(o.Order) == 0 || d.Verb != plan.Wait || len(d.Blockers) > 0 && userGates[d.Blockers[0].Gate] {
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

// addUnready adds the pods that are not ready, those with the same cause together. An old pod that
// is not ready uses maxUnavailable up as a new one does.
func (a *answer) addUnready() {
	type group struct {
		cause   plan.Blocker
		blocked bool
	}
	pods, restarts := map[group][]string{}, map[group]int{}
	var order []group
	for _, p := range a.q.Snapshot.Pods {
		if !rules.Active(p) || rules.Ready(p) || !a.outlook.Matches[p] {
			continue
		}
		b, blocked := plan.NotReadyReason(a.q.Snapshot, p)
		b.Pod = ""
		b.Why += waitingMessage(p) + subsetNote(p) + a.revisionNote(p)
		g := group{b, blocked && (!a.rollsBack() || a.outlook.Updated[p])}
		if pods[g] == nil {
			order = append(order, g)
		}
		pods[g], restarts[g] = append(pods[g], p.Name), max(restarts[g], restartsOf(p))
	}
	for _, g := range order {
		a.addCause(Cause{Gate: g.cause.Gate, Why: g.cause.Why, Blocked: g.blocked, Pods: pods[g], Restarts: restarts[g]})
	}
}

// gateCreate is where pods that are missing cannot be created.
const gateCreate = "create"

// addMissing adds why pods cannot be created, as their controller says.
func (a *answer) addMissing() {
	desired, counts := cluster.Of(a.outlook.Object.Object).Replicas()
	active, newest := 0, time.Time{}
	for _, p := range a.q.Snapshot.Pods {
		if rules.Active(p) && a.outlook.Matches[p] {
			active++
			if p.Created.After(newest) {
				newest = p.Created
			}
		}
	}
	if !counts || active >= desired {
		return
	}
	why, at := cluster.CreateFailure(a.outlook.Object.Object)
	if why != "" && (at.IsZero() || !newest.After(at)) {
		a.add(gateCreate, fmt.Sprintf("%s cannot be created: %s", counted.Of(desired-active, "pod"), why), true)
	}
}

// waitingMessage is the message of the node about the first container that waits.
func waitingMessage(p *cluster.Pod) string {
	c, ok := Troubled(p)
	if !ok {
		return ""
	}
	if image, before := rules.FailedBefore(p, &c); before {
		return fmt.Sprintf("; %s is of image %s, from before this update", c.Waiting, image)
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

// addTerminating adds the pods that are terminating and held.
func (a *answer) addTerminating() {
	for _, p := range a.q.Snapshot.Pods {
		switch {
		case !a.outlook.Matches[p]:
		case p.Deleting && len(p.Finalizers) > 0:
			a.add(plan.GateHook, "terminating, held by finalizers: "+strings.Join(p.Finalizers, ", "), false, p.Name)
		default:
			a.addHook(p)
		}
	}
}

// addHook adds which lifecycle hook a pod waits for, if any.
func (a *answer) addHook(p *cluster.Pod) {
	if b, ok := plan.HookHolding(a.q.Snapshot, p); ok {
		a.add(b.Gate, b.Why, false, p.Name)
	}
}

// hints are what to do at each gate; NAME is the workload, POD the first of the pods.
var hints = map[string]string{
	plan.GateObject:     "check the object, then roll out again: 'kubectl kruise rollout run NAME -f FILE'",
	plan.GateOwner:      "leave it to its owner, or end the owner's rollout first",
	plan.GatePaused:     "'kubectl kruise rollout resume NAME' removes the pause; remove it from the manifest too",
	plan.GatePromote:    "kubectl kruise rollout promote NAME",
	plan.GateHeld:       "kubectl kruise rollout resume NAME",
	plan.GateVerify:     "check the measurement",
	plan.GateCrash:      "'kubectl logs --previous POD' shows why it ended; 'kubectl kruise rollout undo NAME' rolls back",
	plan.GateImage:      "check the image name, the registry and imagePullSecrets",
	plan.GateSchedule:   "'kubectl describe pod POD' shows the message of the scheduler; check node capacity, taints, affinity and volumes",
	plan.GateBudget:     "waits until more of the pods that the budget covers are available",
	plan.GateHook:       "the owner of the hook must remove its label or finalizer",
	plan.GateDeadline:   "check why its pods are not ready; 'kubectl kruise rollout undo NAME' rolls back",
	plan.GateNotAllowed: "delete these pods within their budget, or choose an update policy that recreates them",
	plan.GatePull:       "check the image name, the registry and imagePullSecrets",
	gateDriver:          "kubectl kruise rollout resume NAME",
	GateSelector:        "it is updated once the selector matches it or is removed, in the manifest too; a replacement pod may get the new sidecars",
}

// failed are the gates at which a rollout of ours ends.
var failed = []string{plan.GateTemplate, plan.GatePartition, plan.GatePaused, plan.GateVerify, plan.GateDeadline, plan.GateProgress}

// wayOut is the way out of a rollout whose new pods fail.
func (a *answer) wayOut() string {
	if a.rollsBack() {
		return a.q.Plan.FailureHint("", verbOfName)
	}
	return "'" + verbOfName("abort") + " --rollback' rolls back"
}

func verbOfName(verb string) string { return "kubectl kruise rollout " + verb + " NAME" }

func (a *answer) hint(c Cause) string {
	text := hints[c.Gate]
	switch {
	case a.q.Controller != nil && a.q.Controller.Next != "" && (c.Gate == plan.GateOwner || c.Gate == plan.GatePartition):
		return a.q.Controller.Next
	case a.q.Name == "" && strings.Contains(text, "NAME"):
		return ""
	case a.q.Begun && c.Gate == plan.GateCrash && len(c.Pods) > 0:
		text = "'kubectl logs --previous POD' shows why it ended; " + a.wayOut()
	case a.q.Begun && c.Gate == plan.GateImage:
		text = "check the image name, the registry and imagePullSecrets; " + a.wayOut()
	case c.Gate == gateDriver && !c.Blocked:
		text = "promoting the rollout also runs it"
	case c.Gate == plan.GateBudget && c.Blocked:
		text = "the budget requires every pod that it covers: raise its maxUnavailable, or lower its minAvailable"
	case c.Gate == plan.GateBudget && a.q.Snapshot.GatesUnread != "":
		text = "if Kruise asks it, the budget may never allow this pod: raise its maxUnavailable, or lower its minAvailable; 'kubectl kruise doctor' shows the feature gates"
	case c.Blocked && a.q.Begun && slices.Contains(failed, c.Gate):
		text = a.q.Plan.FailureHint(c.Gate+": "+c.Why, verbOfName)
	case c.Gate == plan.GatePartition:
		text = "lower the partition: 'kubectl kruise rollout run NAME -f FILE', or kubectl edit"
	case c.Gate == gateDriver && !a.q.Begun:
		text = "kubectl kruise rollout run NAME"
	case c.Gate == gateController && a.outlook.Object.Group == kruise.Group:
		text = "if this lasts, check that Kruise is running: 'kubectl get pods -n " + kruise.DefaultNamespace + "'"
	case c.Gate == plan.GateCrash && len(c.Pods) == 0, c.Gate == plan.GateSchedule && len(c.Pods) == 0:
		return ""
	}
	pod := ""
	if len(c.Pods) > 0 {
		pod = c.Pods[0]
	}
	flag := a.namespaceFlag()
	return strings.NewReplacer("NAME", a.q.Name+flag, "POD", pod+flag).Replace(text)
}

// namespaceFlag is what commands of hints end with, so that they can be copied.
func (a *answer) namespaceFlag() string {
	if w := a.q.Snapshot.Workload; w != nil && w.Namespace != "" {
		return " -n " + w.Namespace
	}
	return ""
}
