package split

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func (s *spreadExpansion) report(id, field, detail string) { s.c.Findings.Add(id, s.r, field, detail) }

// reportKept reports why the WorkloadSpread stays.
func (s *spreadExpansion) reportKept() {
	ref := s.spec.TargetReference
	if ref == nil {
		return
	}
	name := ref.Kind + " " + ref.Name
	if s.target != nil {
		s.report("workloadspread/target-taken", "spec.targetRef", name+" is the target of another WorkloadSpread")
		return
	}
	s.report("workloadspread/target-missing", "spec.targetRef", name+" of "+ref.APIVersion+" is not in the input as a workload with a pod template: the WorkloadSpread stays as it is")
}

// reportSplit reports what becomes of the target, and of what is written.
func (s *spreadExpansion) reportSplit(list []piece) {
	names := make([]string, len(list))
	rest := 0
	for i, p := range list {
		names[i] = fmt.Sprintf("%s-%s (%d)", s.target.Name(), p.title, p.pods)
		if p.subset == spread.None {
			rest = p.pods
		}
	}
	s.report("workloadspread/split", "spec.targetRef", s.target.Kind()+" "+s.target.Name()+" became "+strings.Join(names, ", "))
	if rest > 0 {
		s.report("workloadspread/rest", "spec.subsets", counted.With(rest, "pod finds no room", "pods find no room"))
	}
	s.reportSubsets()
	s.reportForm()
	s.reportShares()
}

// reportForm reports what the kind of the target makes of being split.
func (s *spreadExpansion) reportForm() {
	switch {
	case s.target.form.job:
		s.report("workloadspread/job", "spec.targetRef.kind", "")
	case s.target.form.ordinals:
		s.report("workloadspread/ordinals", "spec.targetRef.kind", "")
		if tree.StrAt(s.target.hub, "spec", "podManagementPolicy") != "Parallel" {
			s.report("workloadspread/ordered", "spec.targetRef.kind", "")
		}
	case s.target.Kind() == kruise.KindReplicaSet:
		s.report("workloadspread/deletion-cost-replicaset", "spec.targetRef.kind", "")
	default:
		s.report("workloadspread/deletion-cost", "spec.subsets", "")
	}
	if !s.target.form.job && s.target.Kind() != kruise.KindReplicaSet {
		s.report("workloadspread/rolling-limits", "spec.targetRef.kind", "")
	}
	if n := tree.Get(s.target.hub, "spec", "updateStrategy", "rollingUpdate", "partition"); n != nil && tree.Str(n) != "0" {
		s.report("workloadspread/partition", "spec.targetRef.kind", "")
	}
	if len(tree.Items(tree.Get(s.target.hub, "spec", "scaleStrategy", "podsToDelete"))) > 0 {
		s.report("workloadspread/pods-to-delete", "spec.targetRef.kind", "")
	}
}

// reportShares reports what is special about maxReplicas.
func (s *spreadExpansion) reportShares() {
	ref := s.spec.TargetReference
	for i, subset := range s.spec.Subsets {
		if subset.MaxReplicas == nil {
			continue
		}
		at := fmt.Sprintf("spec.subsets[%d].maxReplicas", i)
		s.report("workloadspread/max-replicas", at, "")
		if strings.HasSuffix(subset.MaxReplicas.StrVal, "%") && ref.Kind == kruise.KindCloneSet && ref.APIVersion == kruise.Group+"/v1beta1" {
			s.report("workloadspread/percent-cloneset", at, "")
		}
	}
}

// perSpreadSubset are reported for each subset that has the field.
var perSpreadSubset = []struct{ field, id string }{
	{"requiredNodeSelector", "workloadspread/required-node-selector"},
	{"preferredNodeSelector", "workloadspread/preferred-node-selector"},
	{"tolerations", "workloadspread/tolerations"},
	{"patch", "workloadspread/patch"},
}

// reportSubsets reports what becomes of what subsets put into pods.
func (s *spreadExpansion) reportSubsets() {
	for i, subset := range s.subsets {
		at := fmt.Sprintf("spec.subsets[%d].", i)
		s.report("workloadspread/subset", at+"name", "")
		for _, f := range perSpreadSubset {
			if tree.Get(subset, f.field) != nil {
				s.report(f.id, at+f.field, "")
			}
		}
	}
	if s.spec.ScheduleStrategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType {
		s.report("workloadspread/fixed", "spec.scheduleStrategy", "")
	}
}

// reportAdaptive reports that pods are not rescheduled; off are the subsets that are known
// to be unschedulable.
func (s *spreadExpansion) reportAdaptive(off []string) {
	const at = "spec.scheduleStrategy"
	s.report("workloadspread/adaptive", at+".type", "")
	if a := s.spec.ScheduleStrategy.Adaptive; a != nil && a.RescheduleCriticalSeconds != nil {
		s.report("workloadspread/adaptive-times", at+".adaptive.rescheduleCriticalSeconds", "")
	}
	if len(off) > 0 {
		slices.Sort(off)
		s.report("workloadspread/adaptive-known", at+".type", "counted as unschedulable, regardless of when that was observed: "+strings.Join(off, ", "))
	}
}
