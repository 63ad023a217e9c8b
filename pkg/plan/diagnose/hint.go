package diagnose

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// hints are what to do at each gate; NAME is the workload, POD the first of the pods.
var hints = map[string]string{
	plan.GateObject:     "look at the object and make a new plan: kubectl kruise rollout run NAME",
	plan.GateOwner:      "leave it to whoever drives it, or end that first",
	plan.GateTemplate:   "somebody else changed it: make a new plan, kubectl kruise rollout run NAME",
	plan.GatePaused:     "take the pause out of its spec, in the manifest too",
	plan.GatePromote:    "kubectl kruise rollout promote NAME",
	plan.GateHeld:       "kubectl kruise rollout resume NAME",
	plan.GateVerify:     "look at what was measured; then kubectl kruise rollout retry NAME, or abort --rollback",
	plan.GateCrash:      "kubectl logs --previous POD; back: kubectl kruise rollout undo NAME",
	plan.GateImage:      "check the image's name, its registry and imagePullSecrets",
	plan.GateSchedule:   "kubectl describe pod POD: room on nodes, taints, affinity, volumes",
	plan.GateBudget:     "it waits until other pods that the budget covers are available",
	plan.GateHook:       "whoever put the hook has to take its label or finalizer away",
	plan.GateDeadline:   "kubectl kruise rollout retry NAME, or abort --rollback",
	plan.GateNotAllowed: "delete these pods, with their budget in mind, or let the policy recreate them",
	plan.GatePull:       "check the image's name, its registry and imagePullSecrets",
	plan.GateProgress:   "kubectl kruise rollout retry NAME, or abort --rollback",
	GateDriver:          "kubectl kruise rollout resume NAME",
	GateSelector:        "it is updated once the selector matches it or is removed, in the manifest too; a pod made in its place may get the new sidecars",
}

func (a *answer) hint(c Cause) string {
	text := hints[c.Gate]
	switch {
	case a.q.Hand != nil && a.q.Hand.Next != "" && (c.Gate == plan.GateOwner || c.Gate == plan.GatePartition):
		return a.q.Hand.Next
	case a.q.Name == "" && strings.Contains(text, "NAME"):
		return ""
	case c.Gate == plan.GateBudget && c.Stuck:
		text = "the budget wants every pod that it covers: raise its maxUnavailable, or lower its minAvailable"
	case c.Gate == plan.GateBudget && a.q.Snapshot.GatesUnread != "":
		text = "if it is asked, it may never let the pod go: raise its maxUnavailable, or lower its minAvailable; kubectl kruise doctor tells the feature gates"
	case c.Gate == plan.GatePartition && c.Stuck:
		text = hints[plan.GateTemplate]
	case c.Gate == plan.GatePartition:
		text = "lower the partition: kubectl kruise rollout run NAME -f FILE, or kubectl edit"
	case c.Gate == GateDriver && !a.q.Begun:
		text = "kubectl kruise rollout run NAME"
	case c.Gate == GateController && a.outlook.Object.Group == kruise.Group:
		text = "if that lasts, is Kruise running? kubectl -n " + kruise.DefaultNamespace + " get pods"
	case c.Gate == plan.GateCrash && len(c.Pods) == 0, c.Gate == plan.GateSchedule && len(c.Pods) == 0:
		return ""
	}
	if len(c.Pods) > 0 {
		text = strings.ReplaceAll(text, "POD", c.Pods[0])
	}
	return strings.ReplaceAll(text, "NAME", a.q.Name)
}
