package diagnose

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// rollsBack reports whether the recorded rollout is a rollback: the pods that are not updated yet have the revision
// that failed, and the others the one from before.
func (a *answer) rollsBack() bool { return a.q.Begun && a.q.Plan.RollbackReason != "" }

// FailedBefore is the image that a container of a pod fails with, and whether that is from before the update in place
// that the pod is in.
func FailedBefore(p *cluster.Pod, c cluster.Container) (image string, before bool) {
	return rules.FailedBefore(p, &c)
}

// revisionNote tells the pods apart that do not have the template.
func (a *answer) revisionNote(p *cluster.Pod) string {
	switch {
	case a.outlook.Updated(p):
		return ""
	case a.rollsBack():
		return " (the revision that is rolled back)"
	}
	return " (old revision)"
}

// revisionHint is what to do where the revision of the pods decides; "" where it does not. Nobody is sent back to a
// revision whose pods fail, and a rollback is not rolled back.
func (a *answer) revisionHint(c Cause) string {
	updated := a.outlook == nil || len(c.Pods) == 0
	if len(c.Pods) > 0 && !updated {
		p := podNamed(&a.q.Snapshot, c.Pods[0])
		updated = p == nil || a.outlook.Updated(p)
	}
	log := ""
	if c.Gate == plan.GateCrash && len(c.Pods) > 0 {
		log = "'kubectl logs --previous " + c.Pods[0] + a.namespaceFlag() + "' shows why it ended"
	}
	switch failed := slices.Contains(failures, c.Gate); {
	case !updated && slices.Contains(faults, c.Gate) && a.rollsBack():
		return "the rollback replaces it"
	case !updated && c.Gate == plan.GateCrash:
		return log
	case !failed || !a.rollsBack() || a.q.Name == "":
		return ""
	case log != "":
		log += "; "
	}
	text := a.q.Plan.FailureHint(c.Gate+": "+c.Why, func(verb string) string {
		return "kubectl kruise rollout " + verb + " " + a.q.Name + a.namespaceFlag()
	})
	return log + text
}

// failures are gates at which a rollout fails whose remedy would be a rollback.
var failures = []string{plan.GateCrash, plan.GateImage, plan.GateVerify, plan.GateDeadline, plan.GateProgress, plan.GateTemplate}
