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
	case a.outlook.Updated[p]:
		return ""
	case a.rollsBack():
		return " (the revision that is rolled back)"
	}
	return " (old revision)"
}

// revisionHint is what to do about pods that fail and are not updated; "" about others. No hint leads back to a
// revision whose pods fail.
func (a *answer) revisionHint(c Cause) string {
	if a.outlook == nil || len(c.Pods) == 0 || !slices.Contains(faults, c.Gate) {
		return ""
	}
	p := podNamed(&a.q.Snapshot, c.Pods[0])
	switch {
	case p == nil || a.outlook.Updated[p]:
		return ""
	case a.rollsBack():
		return "the rollback replaces it"
	case c.Gate == plan.GateCrash:
		return "'kubectl logs --previous " + p.Name + a.namespaceFlag() + "' shows why it ended"
	}
	return ""
}
