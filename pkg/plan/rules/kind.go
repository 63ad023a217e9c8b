package rules

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// kind is what the rules of updating differ in between kinds of workload.
type kind struct {
	// policy is how the object updates its pods; "" is [PolicyRecreate].
	policy UpdatePolicy
	// policies are all that the kind knows.
	policies []UpdatePolicy
	// refused names which component refuses a change that no pod can take; refusedBeta is for v1beta1,
	// where that differs.
	refused, refusedBeta string
}

// kindOf is the kind of a typed object. What is no workload is treated as one of
// Kubernetes.
func kindOf(obj any) kind {
	if k := cluster.By(obj, cluster.Kinds[kind](kinds{})); len(k.policies) > 0 {
		return k
	}
	return kinds{}.Deployment(nil)
}

// kinds has the kind of each workload.
type kinds struct{}

const refusedByAdmission = "admission refuses the change"

// CloneSet: docs/kruise/workloads.md#when-it-is-impossible.
func (kinds) CloneSet(o *kruise.CloneSet) kind {
	k := kind{
		policies: []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}, refused: refusedByAdmission,
		refusedBeta: "admission accepts it in " + kruise.V1beta1 + ", but then no pod changes and no event explains why",
	}
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		k.policy = UpdatePolicy(r.PodUpdatePolicy)
	}
	return k
}

func (kinds) StatefulSet(o *kruise.StatefulSet) kind {
	k := kind{policies: []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}, refused: refusedByAdmission}
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		k.policy = UpdatePolicy(r.PodUpdatePolicy)
	}
	return k
}

func (kinds) DaemonSet(o *kruise.DaemonSet) kind {
	k := kind{policies: []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible}, refused: refusedByAdmission}
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType {
		k.policy = PolicyInPlaceIfPossible
	}
	return k
}

// SidecarSet recreates no pod (docs/kruise/sidecarset.md#what-can-change-in-place).
func (kinds) SidecarSet(*kruise.SidecarSet) kind {
	return kind{
		policy: PolicyInPlaceOnly, policies: []UpdatePolicy{PolicyInPlaceOnly},
		refused: "pods that have the sidecars keep the old ones until they are recreated",
	}
}

// Deployment, like all workloads of Kubernetes, knows no other way than making new pods
// (docs/kruise/workloads.md#cloneset-in-two-versions).
func (kinds) Deployment(*appsv1.Deployment) kind {
	return kind{policies: []UpdatePolicy{PolicyRecreate}, refused: refusedByAdmission}
}

func (k kinds) ReplicaSet(*appsv1.ReplicaSet) kind         { return k.Deployment(nil) }
func (k kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return k.Deployment(nil) }
func (k kinds) NativeDaemonSet(*appsv1.DaemonSet) kind     { return k.Deployment(nil) }

// PolicyOf returns how a workload, given as its typed object, updates its pods. A
// SidecarSet never recreates any, and native controllers know nothing else
// (docs/kruise/workloads.md#cloneset-in-two-versions, docs/kruise/workloads.md#advanced-statefulset
// and docs/kruise/workloads.md#advanced-daemonset,
// docs/kruise/sidecarset.md#what-can-change-in-place).
func PolicyOf(obj any) UpdatePolicy { return cmp.Or(kindOf(obj).policy, PolicyRecreate) }

// policyWord is a policy as the kind of a typed object spells it.
func policyWord(obj any, p UpdatePolicy) string {
	if _, ok := obj.(*kruise.DaemonSet); ok && p == PolicyRecreate {
		return string(kruise.StandardRollingUpdateType)
	}
	return string(p)
}

// PoliciesOf returns all policies that the object's kind knows.
func PoliciesOf(obj any) []UpdatePolicy { return kindOf(obj).policies }

// Change reports what a change of a workload does to its pods under a policy.
func Change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	if _, ok := updated.Object.(*kruise.SidecarSet); ok {
		return SidecarSetEligible(old.Template, updated.Template)
	}
	e := TemplateChange{
		Old:    cluster.Revision{Template: old.Template, ClaimsHash: claims(old.Object)},
		New:    cluster.Revision{Template: updated.Template, ClaimsHash: claims(updated.Object)},
		Policy: policy, Gates: gates,
	}.Eligible()
	if _, ok := updated.Object.(*kruise.DaemonSet); ok && e.Mode == ModeRecreate && cmp.Or(policy, PolicyRecreate) == PolicyRecreate {
		e.Why = "the rolling update type is " + string(kruise.StandardRollingUpdateType)
	}
	return e
}

// claims replaces the hash of a CloneSet's volume claim templates where only equality matters.
func claims(obj any) string {
	c, ok := obj.(*kruise.CloneSet)
	if !ok || len(c.Spec.VolumeClaimTemplates) == 0 {
		return ""
	}
	text, _ := json.Marshal(c.Spec.VolumeClaimTemplates) // plain data: never fails
	return string(text)
}

// Warnings returns what a user should know about a change of a workload besides the answer e: the
// response of admission, and the effect of the strategy.
func Warnings(old, updated *cluster.Workload, e Eligibility) []string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	before, now := PolicyOf(old.Object), PolicyOf(updated.Object)
	add(before != now, "the update policy changes with it, from "+policyWord(updated.Object, before)+" to "+policyWord(updated.Object, now)+": the new one counts")
	strategy := cluster.Of(updated.Object).Strategy()
	add(strategy == onDelete, "the strategy is OnDelete: a pod gets the new template only when it is deleted")
	add(strategy == string(kruise.NotUpdateSidecarSetStrategyType), "the strategy is NotUpdate: only pods created from now on get it")
	_, replicaSet := updated.Object.(*appsv1.ReplicaSet)
	add(replicaSet, "a ReplicaSet updates no pod: each gets the new template when it is recreated")
	add(PausedOf(updated.Object), "the workload is paused: no pod is updated until it is resumed")
	// docs/kruise/workloads.md#advanced-statefulset and docs/kruise/workloads.md#advanced-daemonset.
	_, statefulSet := updated.Object.(*kruise.StatefulSet)
	spec, _ := updated.Template["spec"].(map[string]any)
	gated := slices.ContainsFunc(items(spec, "readinessGates"), func(g map[string]any) bool { return text(g, "conditionType") == inPlaceGate })
	add(statefulSet && now != PolicyRecreate && !gated, "admission refuses an in-place policy of a StatefulSet without the readiness gate "+inPlaceGate+" in its template")
	_, daemonSet := updated.Object.(*kruise.DaemonSet)
	add(daemonSet && now != PolicyRecreate && before == PolicyRecreate, "pods created under Standard have no readiness gate "+inPlaceGate+": those are recreated once")
	// docs/kruise/workloads.md#cloneset-in-two-versions, docs/kruise/workloads.md#when-it-is-impossible and
	// docs/kruise/workloads.md#observed-on-a-cluster.
	k := kindOf(updated.Object)
	if k.refusedBeta != "" && updated.Version == kruise.V1beta1 {
		k.refused = k.refusedBeta
	}
	add(e.Mode == ModeNotAllowed, k.refused)
	// docs/kruise/workloads.md#kubectl-operations, Restart.
	restarted := slices.ContainsFunc(e.Fields, func(f FieldChange) bool { return strings.Contains(f.Path, "restartedAt") })
	add(e.Mode == ModeMetadataOnly && restarted, "an annotation alone restarts nothing under an in-place policy")
	claims := ClaimWarning(old, updated, e)
	add(claims != "", claims)
	return out
}

const onDelete = "OnDelete"

// PausedOf reports whether the update of a workload, given as its typed object, is
// paused.
func PausedOf(obj any) bool { return cluster.Of(obj).Paused() }
