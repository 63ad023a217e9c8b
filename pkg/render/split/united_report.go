package split

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func (x *expansion) report(id, field, detail string) { x.c.Findings.Add(id, x.r, field, detail) }

// asWritten are reported wherever the field is written.
var asWritten = []struct{ field, id string }{
	{"spec.selector", "uniteddeployment/selector"},
	{"spec.replicas", "uniteddeployment/replicas"},
	{"spec.revisionHistoryLimit", "uniteddeployment/revision-history-limit"},
	{"spec.updateStrategy.type", "uniteddeployment/update-strategy"},
	{"spec.topology.scheduleStrategy.adaptive.rescheduleCriticalSeconds", "uniteddeployment/adaptive-times"},
	{"spec.topology.scheduleStrategy.adaptive.unschedulableDuration", "uniteddeployment/adaptive-times"},
}

// perSubset are reported for each subset that has the field.
var perSubset = []struct{ field, id string }{
	{"replicas", "uniteddeployment/subset-replicas"},
	{"minReplicas", "uniteddeployment/subset-replicas"},
	{"maxReplicas", "uniteddeployment/subset-replicas"},
	{"nodeSelectorTerm.matchExpressions", "uniteddeployment/node-selector-term"},
	{"nodeSelectorTerm.matchFields", "uniteddeployment/match-fields"},
	{"tolerations", "uniteddeployment/tolerations"},
	{"patch", "uniteddeployment/patch"},
}

// reportFields reports what becomes of what is written.
func (x *expansion) reportFields() {
	for _, f := range asWritten {
		if x.isWritten(f.field) {
			x.report(f.id, f.field, "")
		}
	}
	template := "spec.template." + x.form.field
	x.report("uniteddeployment/"+templateRules[x.form.field], template, "")
	x.report("uniteddeployment/revision-label", "spec.template", "")
	for i := range x.spec.Topology.Subsets {
		at := fmt.Sprintf("spec.topology.subsets[%d].", i)
		x.report("uniteddeployment/subset", at+"name", "")
		for _, f := range perSubset {
			if x.isWritten(at + f.field) {
				x.report(f.id, at+f.field, "")
			}
		}
	}
	if tree.StrAt(x.hub, "metadata", "labels", kruise.DeleteProtectionLabel) != "" {
		x.report("uniteddeployment/delete-protection", "metadata.labels["+kruise.DeleteProtectionLabel+"]", "")
	}
	x.reportRemoved()
}

var templateRules = map[string]string{
	"statefulSetTemplate":         "statefulset-template",
	"advancedStatefulSetTemplate": "advanced-statefulset-template",
	"cloneSetTemplate":            "cloneset-template",
	"deploymentTemplate":          "deployment-template",
}

// isWritten reports whether the field at the path has an effect.
func (x *expansion) isWritten(path string) bool {
	n, whole := tree.At(x.hub, path)
	return whole && !tree.IsNull(n) && (tree.IsScalar(n) || len(n.Content) > 0)
}

// reportAllocation reports where the result hangs on what is known of the
// cluster.
func (x *expansion) reportAllocation(in spread.Allocation) {
	const strategy = "spec.topology.scheduleStrategy"
	if !in.Adaptive && x.isWritten(strategy+".type") {
		x.report("uniteddeployment/schedule-strategy", strategy+".type", "")
	}
	switch {
	case in.Reserve:
		x.report("uniteddeployment/reserve", strategy+".adaptive.reserveUnschedulablePods", "")
		x.reportKnown(in, strategy)
	case in.Adaptive:
		x.report("uniteddeployment/adaptive", strategy+".type", "")
		x.reportKnown(in, strategy)
	case x.facts.empty() && uneven(in, x.counts):
		x.report("uniteddeployment/remainder", "spec.topology.subsets", "")
	}
}

// reportKnown reports which subsets were taken as unschedulable, or that nothing
// was known.
func (x *expansion) reportKnown(in spread.Allocation, field string) {
	if x.facts.empty() {
		x.report("uniteddeployment/adaptive-unknown", field, "")
		return
	}
	var off []string
	for _, s := range in.Subsets {
		if s.Unschedulable || s.Reserved > 0 {
			off = append(off, s.Name)
		}
	}
	if len(off) > 0 {
		x.report("uniteddeployment/adaptive-known", field, "counted as unschedulable, regardless of when that was observed: "+strings.Join(off, ", "))
	}
}

// uneven reports whether subsets without a number of their own got different
// shares: which of them got more depends on their present sizes.
func uneven(in spread.Allocation, counts []int32) bool {
	var open []int32
	for i, s := range in.Subsets {
		if s.Min != nil || s.Max != nil {
			return false
		}
		if s.Replicas == nil {
			open = append(open, counts[i])
		}
	}
	return len(open) > 0 && slices.Max(open) != slices.Min(open)
}

// reportRemoved names workloads of subsets that are not declared any more.
func (x *expansion) reportRemoved() {
	left := map[string]bool{}
	for subset := range x.facts.workloads {
		left[subset] = true
	}
	for _, s := range x.spec.Topology.Subsets {
		delete(left, s.Name)
	}
	for _, subset := range slices.Sorted(maps.Keys(left)) {
		w := x.facts.workloads[subset]
		x.report("uniteddeployment/subset-removed", "spec.topology.subsets", fmt.Sprintf("%s is the workload of subset %s, which is not declared any more: nothing deletes it", w.ID(), subset))
	}
}
