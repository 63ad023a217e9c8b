package rules

import (
	"cmp"
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// PolicyOf returns how a workload, given as its typed object, updates its pods. A
// SidecarSet never recreates any, and native controllers know nothing else
// (docs/kruise/workloads.md#cloneset-in-two-versions, docs/kruise/workloads.md#advanced-statefulset
// and docs/kruise/workloads.md#advanced-daemonset,
// docs/kruise/sidecarset.md#what-can-change-in-place).
func PolicyOf(obj any) UpdatePolicy { return cmp.Or(kindOf(obj).policy(), PolicyRecreate) }

// PoliciesOf returns all policies that the object's kind knows.
func PoliciesOf(obj any) []UpdatePolicy { return kindOf(obj).policies() }

// Change says what a change of a workload does to its pods under a policy.
func Change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	return kindOf(updated.Object).change(old, updated, policy, gates)
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
