package diagnose

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// hints are what to do at each gate; NAME is the workload, POD the first of the pods.
var hints = map[string]string{
	plan.GateObject:     "check the object, then make a new plan: kubectl kruise rollout run NAME",
	plan.GateOwner:      "leave it to its owner, or end the owner's rollout first",
	plan.GateTemplate:   "it was changed from outside; make a new plan: kubectl kruise rollout run NAME",
	plan.GatePaused:     "remove the pause from the spec, in the manifest too",
	plan.GatePromote:    "kubectl kruise rollout promote NAME",
	plan.GateHeld:       "kubectl kruise rollout resume NAME",
	plan.GateVerify:     "check the measurement, then kubectl kruise rollout retry NAME; or kubectl kruise rollout abort NAME --rollback",
	plan.GateCrash:      "kubectl logs --previous POD; to roll back: kubectl kruise rollout undo NAME",
	plan.GateImage:      "check the image name, the registry and imagePullSecrets",
	plan.GateSchedule:   "kubectl describe pod POD; check node capacity, taints, affinity and volumes",
	plan.GateBudget:     "waits until more of the pods that the budget covers are available",
	plan.GateHook:       "the owner of the hook must remove its label or finalizer",
	plan.GateDeadline:   "kubectl kruise rollout retry NAME; or kubectl kruise rollout abort NAME --rollback",
	plan.GateNotAllowed: "delete these pods within their budget, or choose an update policy that recreates them",
	plan.GatePull:       "check the image name, the registry and imagePullSecrets",
	plan.GateProgress:   "kubectl kruise rollout retry NAME; or kubectl kruise rollout abort NAME --rollback",
	GateDriver:          "kubectl kruise rollout resume NAME",
	GateSelector:        "it is updated once the selector matches it or is removed, in the manifest too; a replacement pod may get the new sidecars",
}

func (a *answer) hint(c Cause) string {
	text := hints[c.Gate]
	switch {
	case a.q.Hand != nil && a.q.Hand.Next != "" && (c.Gate == plan.GateOwner || c.Gate == plan.GatePartition):
		return a.q.Hand.Next
	case a.q.Name == "" && strings.Contains(text, "NAME"):
		return ""
	case c.Gate == plan.GateBudget && c.Stuck:
		text = "the budget requires every pod that it covers: raise its maxUnavailable, or lower its minAvailable"
	case c.Gate == plan.GateBudget && a.q.Snapshot.GatesUnread != "":
		text = "if Kruise asks it, the budget may never allow this pod: raise its maxUnavailable, or lower its minAvailable; kubectl kruise doctor shows the feature gates"
	case c.Gate == plan.GatePartition && c.Stuck:
		text = hints[plan.GateTemplate]
	case c.Gate == plan.GatePartition:
		text = "lower the partition: kubectl kruise rollout run NAME -f FILE, or kubectl edit"
	case c.Gate == GateDriver && !a.q.Begun:
		text = "kubectl kruise rollout run NAME"
	case c.Gate == GateController && a.outlook.Object.Group == kruise.Group:
		text = "if this lasts, check that Kruise is running: kubectl -n " + kruise.DefaultNamespace + " get pods"
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
