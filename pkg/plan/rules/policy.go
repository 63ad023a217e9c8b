package rules

import (
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// PolicyOf returns how a workload, given as its typed object, updates its pods. A
// SidecarSet never recreates any, and native controllers know nothing else
// (semantics workloads 0.2, 3, 4, sidecarset-and-protection 3.3).
func PolicyOf(obj any) UpdatePolicy {
	policy := PolicyRecreate
	switch o := obj.(type) {
	case *kruise.CloneSet:
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
			policy = UpdatePolicy(r.PodUpdatePolicy)
		}
	case *kruise.StatefulSet:
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
			policy = UpdatePolicy(r.PodUpdatePolicy)
		}
	case *kruise.DaemonSet:
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType {
			policy = PolicyInPlaceIfPossible
		}
	case *kruise.SidecarSet:
		policy = PolicyInPlaceOnly
	}
	if policy == "" {
		policy = PolicyRecreate
	}
	return policy
}

// PoliciesOf returns all policies that the object's kind knows.
func PoliciesOf(obj any) []UpdatePolicy {
	switch obj.(type) {
	case *kruise.CloneSet, *kruise.StatefulSet:
		return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}
	case *kruise.DaemonSet:
		return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible}
	}
	return []UpdatePolicy{PolicyOf(obj)}
}

// Change says what a change of a workload does to its pods under a policy.
func Change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	if _, ok := updated.Object.(*kruise.SidecarSet); ok {
		return SidecarSetEligible(old.Template, updated.Template)
	}
	c := TemplateChange{
		Old:    cluster.Revision{Template: old.Template, ClaimsHash: claims(old.Object)},
		New:    cluster.Revision{Template: updated.Template, ClaimsHash: claims(updated.Object)},
		Policy: policy, Gates: gates,
	}
	return c.Eligible()
}

// claims stands for the hash of a CloneSet's volume claim templates where only
// equality matters.
func claims(obj any) string {
	c, ok := obj.(*kruise.CloneSet)
	if !ok || len(c.Spec.VolumeClaimTemplates) == 0 {
		return ""
	}
	text, _ := json.Marshal(c.Spec.VolumeClaimTemplates) // plain data: never fails
	return string(text)
}
