package rules

import (
	"slices"
	"strings"

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
	switch cluster.Of(obj).Strategy() {
	case onDelete:
		return "the strategy is OnDelete: a pod gets the new template only when it is deleted"
	case string(kruise.NotUpdateSidecarSetStrategyType):
		return "the strategy is NotUpdate: only pods made from now on get it"
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

func templateHasGate(template map[string]any) bool {
	spec, _ := template["spec"].(map[string]any)
	return slices.ContainsFunc(items(spec, "readinessGates"), func(g map[string]any) bool { return text(g, "conditionType") == inPlaceGate })
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
