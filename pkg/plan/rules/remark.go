package rules

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Remarks are things to know about a change of a workload beside the answer e:
// what admission says to it, and what the strategy makes of it.
func Remarks(old, updated *cluster.Workload, e Eligibility) []string {
	var out []string
	for _, r := range []string{
		policyRemark(old, updated), strategyRemark(updated.Object), pausedRemark(updated.Object),
		gateRemark(old, updated), refusedRemark(updated, e), restartRemark(e),
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
	return "the update policy changes with it, from " + string(before) + " to " + string(now) + ": the new one counts"
}

func strategyRemark(obj any) string {
	switch strategyOf(obj) {
	case onDelete:
		return "the strategy is OnDelete: a pod gets the new template only when somebody deletes it"
	case string(kruise.NotUpdateSidecarSetStrategyType):
		return "the strategy is NotUpdate: only pods made from now on get it"
	}
	if _, ok := obj.(*appsv1.ReplicaSet); ok {
		return "a ReplicaSet updates no pod: each gets the new template when it is made anew"
	}
	return ""
}

func pausedRemark(obj any) string {
	if !PausedOf(obj) {
		return ""
	}
	return "the workload is paused: no pod is updated until it is resumed"
}

// gateRemark: semantics workloads 3 and 4.
func gateRemark(old, updated *cluster.Workload) string {
	if PolicyOf(updated.Object) == PolicyRecreate {
		return ""
	}
	switch updated.Object.(type) {
	case *kruise.StatefulSet:
		if !templateHasGate(updated.Template) {
			return "admission refuses an in-place policy of a StatefulSet without the readiness gate " + inPlaceGate + " in its template"
		}
	case *kruise.DaemonSet:
		if PolicyOf(old.Object) == PolicyRecreate {
			return "pods made under Standard have no readiness gate " + inPlaceGate + ": those are recreated once"
		}
	}
	return ""
}

func templateHasGate(template map[string]any) bool {
	spec, _ := template["spec"].(map[string]any)
	return slices.ContainsFunc(items(spec, "readinessGates"), func(g map[string]any) bool { return text(g, "conditionType") == inPlaceGate })
}

// refusedRemark: semantics workloads 0.2, 2.5, 10.
func refusedRemark(w *cluster.Workload, e Eligibility) string {
	if e.Mode != ModeNotAllowed {
		return ""
	}
	switch w.Object.(type) {
	case *kruise.SidecarSet:
		return "pods that have the sidecars keep the old ones until they are recreated"
	case *kruise.CloneSet:
		if w.Version == kruise.V1beta1 {
			return "admission lets it through in " + kruise.V1beta1 + ", and then no pod changes and no event says why"
		}
	}
	return "admission refuses the change"
}

// restartRemark: semantics workloads 6, Restart.
func restartRemark(e Eligibility) string {
	if e.Mode != ModeMetadataOnly || !slices.ContainsFunc(e.Fields, func(f FieldChange) bool { return strings.Contains(f.Path, "restartedAt") }) {
		return ""
	}
	return "an annotation alone restarts nothing under an in-place policy"
}

const onDelete = "OnDelete"

// strategyOf returns the type of the object's update strategy.
func strategyOf(obj any) string {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *kruise.StatefulSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *kruise.DaemonSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *kruise.SidecarSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *appsv1.StatefulSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *appsv1.DaemonSet:
		return string(o.Spec.UpdateStrategy.Type)
	case *appsv1.Deployment:
		return string(o.Spec.Strategy.Type)
	}
	return ""
}

// PausedOf reports whether the update of a workload, given as its typed object, is
// paused.
func PausedOf(obj any) bool {
	switch o := obj.(type) {
	case *kruise.CloneSet:
		r := o.Spec.UpdateStrategy.RollingUpdate
		return r != nil && r.Paused
	case *kruise.StatefulSet:
		r := o.Spec.UpdateStrategy.RollingUpdate
		return r != nil && r.Paused
	case *kruise.DaemonSet:
		r := o.Spec.UpdateStrategy.RollingUpdate
		return r != nil && r.Paused != nil && *r.Paused
	case *kruise.SidecarSet:
		return o.Spec.UpdateStrategy.Paused
	case *appsv1.Deployment:
		return o.Spec.Paused
	}
	return false
}
