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

// kind is what the rules of updating differ in between kinds of workload. Each kind
// answers in a file of its own, kind_*.go.
type kind interface {
	// policy is how the object updates its pods; "" is [PolicyRecreate].
	policy() UpdatePolicy
	// policies are all that the kind knows.
	policies() []UpdatePolicy
	// change reports what a change of the workload does to its pods under a policy.
	change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility
	// strategyRemark returns a warning about how the kind handles a new template, with any
	// strategy.
	strategyRemark() string
	// gateRemark returns a warning about the readiness gates that an in-place policy needs.
	gateRemark(old, updated *cluster.Workload) string
	// refusedRemark returns a warning about which component refuses a change that no pod can take,
	// in a version.
	refusedRemark(version string) string
}

// kindOf is the kind of a typed object. What is no workload is treated as one of
// Kubernetes.
func kindOf(obj any) kind {
	if k := cluster.By(obj, cluster.Kinds[kind](kinds{})); k != nil {
		return k
	}
	return native{}
}

// kinds has the kind of each workload; its methods are in the files of the kinds.
type kinds struct{}

// templated is for kinds whose revisions are made of spec.template.
type templated struct{}

func (templated) change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	return TemplateChange{
		Old:    cluster.Revision{Template: old.Template, ClaimsHash: claims(old.Object)},
		New:    cluster.Revision{Template: updated.Template, ClaimsHash: claims(updated.Object)},
		Policy: policy, Gates: gates,
	}.Eligible()
}

// updating is for kinds whose controller updates pods by the strategy.
type updating struct{}

func (updating) strategyRemark() string { return "" }

// ungated is for kinds that ask no more of readiness gates.
type ungated struct{}

func (ungated) gateRemark(_, _ *cluster.Workload) string { return "" }

// admitted is for kinds whose admission refuses what no pod can take.
type admitted struct{}

func (admitted) refusedRemark(string) string { return "admission refuses the change" }

type cloneSetKind struct {
	templated
	updating
	ungated
	o *kruise.CloneSet
}

func (kinds) CloneSet(o *kruise.CloneSet) kind { return cloneSetKind{o: o} }

func (k cloneSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return UpdatePolicy(r.PodUpdatePolicy)
	}
	return PolicyRecreate
}

func (cloneSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}
}

// refusedRemark: docs/kruise/workloads.md#when-it-is-impossible.
func (cloneSetKind) refusedRemark(version string) string {
	if version == kruise.V1beta1 {
		return "admission accepts it in " + kruise.V1beta1 + ", but then no pod changes and no event explains why"
	}
	return admitted{}.refusedRemark(version)
}

type statefulSetKind struct {
	templated
	updating
	admitted
	o *kruise.StatefulSet
}

func (kinds) StatefulSet(o *kruise.StatefulSet) kind { return statefulSetKind{o: o} }

func (k statefulSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return UpdatePolicy(r.PodUpdatePolicy)
	}
	return PolicyRecreate
}

func (statefulSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}
}

// gateRemark: docs/kruise/workloads.md#advanced-statefulset.
func (statefulSetKind) gateRemark(_, updated *cluster.Workload) string {
	spec, _ := updated.Template["spec"].(map[string]any)
	if slices.ContainsFunc(items(spec, "readinessGates"), func(g map[string]any) bool { return text(g, "conditionType") == inPlaceGate }) {
		return ""
	}
	return "admission refuses an in-place policy of a StatefulSet without the readiness gate " + inPlaceGate + " in its template"
}

type daemonSetKind struct {
	templated
	updating
	admitted
	o *kruise.DaemonSet
}

func (kinds) DaemonSet(o *kruise.DaemonSet) kind { return daemonSetKind{o: o} }

func (k daemonSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType {
		return PolicyInPlaceIfPossible
	}
	return PolicyRecreate
}

func (daemonSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible}
}

func (k daemonSetKind) change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	e := k.templated.change(old, updated, policy, gates)
	if e.Mode == ModeRecreate && cmp.Or(policy, PolicyRecreate) == PolicyRecreate {
		e.Why = "the rolling update type is " + string(kruise.StandardRollingUpdateType)
	}
	return e
}

// gateRemark: docs/kruise/workloads.md#advanced-daemonset.
func (daemonSetKind) gateRemark(old, _ *cluster.Workload) string {
	if PolicyOf(old.Object) != PolicyRecreate {
		return ""
	}
	return "pods created under Standard have no readiness gate " + inPlaceGate + ": those are recreated once"
}

type sidecarSetKind struct {
	updating
	ungated
}

func (kinds) SidecarSet(*kruise.SidecarSet) kind { return sidecarSetKind{} }

// policy: a SidecarSet recreates no pod (docs/kruise/sidecarset.md#what-can-change-in-place).
func (sidecarSetKind) policy() UpdatePolicy { return PolicyInPlaceOnly }

func (sidecarSetKind) policies() []UpdatePolicy { return []UpdatePolicy{PolicyInPlaceOnly} }

func (sidecarSetKind) change(old, updated *cluster.Workload, _ UpdatePolicy, _ cluster.Gates) Eligibility {
	return SidecarSetEligible(old.Template, updated.Template)
}

func (sidecarSetKind) refusedRemark(string) string {
	return "pods that have the sidecars keep the old ones until they are recreated"
}

// replicaSetKind is a workload of Kubernetes whose controller updates no pod.
type replicaSetKind struct{ native }

func (kinds) ReplicaSet(*appsv1.ReplicaSet) kind { return replicaSetKind{} }

func (replicaSetKind) strategyRemark() string {
	return "a ReplicaSet updates no pod: each gets the new template when it is recreated"
}

// native is a workload of Kubernetes, which knows no other way than making new pods
// (docs/kruise/workloads.md#cloneset-in-two-versions).
type native struct {
	templated
	updating
	ungated
	admitted
}

func (kinds) Deployment(*appsv1.Deployment) kind { return native{} }

func (kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return native{} }

func (kinds) NativeDaemonSet(*appsv1.DaemonSet) kind { return native{} }

func (native) policy() UpdatePolicy { return PolicyRecreate }

func (native) policies() []UpdatePolicy { return []UpdatePolicy{PolicyRecreate} }

// PolicyOf returns how a workload, given as its typed object, updates its pods. A
// SidecarSet never recreates any, and native controllers know nothing else
// (docs/kruise/workloads.md#cloneset-in-two-versions, docs/kruise/workloads.md#advanced-statefulset
// and docs/kruise/workloads.md#advanced-daemonset,
// docs/kruise/sidecarset.md#what-can-change-in-place).
func PolicyOf(obj any) UpdatePolicy { return cmp.Or(kindOf(obj).policy(), PolicyRecreate) }

// PolicyWord is a policy as the kind of a typed object spells it.
func PolicyWord(obj any, p UpdatePolicy) string {
	if _, ok := obj.(*kruise.DaemonSet); ok && p == PolicyRecreate {
		return string(kruise.StandardRollingUpdateType)
	}
	return string(p)
}

// PoliciesOf returns all policies that the object's kind knows.
func PoliciesOf(obj any) []UpdatePolicy { return kindOf(obj).policies() }

// Change reports what a change of a workload does to its pods under a policy.
func Change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	return kindOf(updated.Object).change(old, updated, policy, gates)
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
	for _, r := range []string{
		policyRemark(old, updated), strategyRemark(updated.Object), pausedRemark(updated.Object),
		gateRemark(old, updated), refusedRemark(updated, e), restartRemark(e), ClaimWarning(old, updated, e),
	} {
		if r != "" {
			out = append(out, r)
		}
	}
	return out
}

func policyRemark(old, updated *cluster.Workload) string {
	before, now := PolicyOf(old.Object), PolicyOf(updated.Object)
	if before == now {
		return ""
	}
	return "the update policy changes with it, from " + PolicyWord(updated.Object, before) + " to " + PolicyWord(updated.Object, now) + ": the new one counts"
}

func strategyRemark(obj any) string {
	switch cluster.Of(obj).Strategy() {
	case onDelete:
		return "the strategy is OnDelete: a pod gets the new template only when it is deleted"
	case string(kruise.NotUpdateSidecarSetStrategyType):
		return "the strategy is NotUpdate: only pods created from now on get it"
	}
	return kindOf(obj).strategyRemark()
}

func pausedRemark(obj any) string {
	if !PausedOf(obj) {
		return ""
	}
	return "the workload is paused: no pod is updated until it is resumed"
}

// gateRemark: docs/kruise/workloads.md#advanced-statefulset and
// docs/kruise/workloads.md#advanced-daemonset.
func gateRemark(old, updated *cluster.Workload) string {
	if PolicyOf(updated.Object) == PolicyRecreate {
		return ""
	}
	return kindOf(updated.Object).gateRemark(old, updated)
}

// refusedRemark: docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/workloads.md#when-it-is-impossible and
// docs/kruise/workloads.md#observed-on-a-cluster.
func refusedRemark(w *cluster.Workload, e Eligibility) string {
	if e.Mode != ModeNotAllowed {
		return ""
	}
	return kindOf(w.Object).refusedRemark(w.Version)
}

// restartRemark: docs/kruise/workloads.md#kubectl-operations, Restart.
func restartRemark(e Eligibility) string {
	if e.Mode != ModeMetadataOnly || !slices.ContainsFunc(e.Fields, func(f FieldChange) bool { return strings.Contains(f.Path, "restartedAt") }) {
		return ""
	}
	return "an annotation alone restarts nothing under an in-place policy"
}

const onDelete = "OnDelete"

// PausedOf reports whether the update of a workload, given as its typed object, is
// paused.
func PausedOf(obj any) bool { return cluster.Of(obj).Paused() }
