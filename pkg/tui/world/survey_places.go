package world

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// SurveyDistributions are objects that fan out, in the order in which they are shown.
func SurveyDistributions(list ...*Distribution) *Distributions {
	slices.SortFunc(list, func(a, b *Distribution) int { return a.Compare(b.Ref) })
	return &Distributions{List: list}
}

// SurveyUnited is a UnitedDeployment with the workloads of its subsets and all pods that its
// selector matches.
func SurveyUnited(ud *kruise.UnitedDeployment, workloads []*tree.Node, pods []*cluster.Pod) *Distribution {
	out := &Distribution{Ref: of(kruise.KindUnitedDeployment, ud.Namespace, ud.Name), Created: ud.CreationTimestamp.Time, Target: subsetKind(ud)}
	p, err := diagnose.United(ud, workloads, pods)
	if err != nil {
		return withError(out, err)
	}
	updated := map[string]int{}
	for _, one := range pods {
		if rules.Active(one) && ud.Status.UpdatedRevision != "" && one.Labels[kruise.ControllerRevisionHashLabel] == ud.Status.UpdatedRevision {
			updated[one.Labels[kruise.SubsetNameLabel]]++
		}
	}
	return fromPlacement(out, p, updated)
}

// subsetKind is what the subsets are made of.
func subsetKind(ud *kruise.UnitedDeployment) string {
	switch t := ud.Spec.Template; {
	case t.CloneSetTemplate != nil:
		return "CloneSets"
	case t.AdvancedStatefulSetTemplate != nil:
		return "Advanced StatefulSets"
	case t.StatefulSetTemplate != nil:
		return "StatefulSets"
	}
	return "Deployments"
}

// SurveySpread is a WorkloadSpread with its target, nil where that is not there, and the
// target's pods. updated are the UIDs of those that carry the newest template.
func SurveySpread(ws *kruise.WorkloadSpread, target *tree.Node, pods []*cluster.Pod, updated map[string]bool) *Distribution {
	out := &Distribution{Ref: of(kruise.KindWorkloadSpread, ws.Namespace, ws.Name), Created: ws.CreationTimestamp.Time}
	if r := ws.Spec.TargetReference; r != nil {
		out.Target = strings.ToLower(r.Kind) + "/" + r.Name
	}
	if target == nil || out.Target == "" {
		out.Problems, out.Health = []string{"its target is not there"}, Blocked
		return out
	}
	p, err := diagnose.Spread(ws, target, pods)
	if err != nil {
		return withError(out, err)
	}
	counts, uids := map[string]int{}, map[string]string{}
	for _, one := range pods {
		uids[one.Name] = one.UID
	}
	for _, s := range p.Subsets {
		for _, one := range s.Pods {
			if updated[uids[one.Name]] {
				counts[s.Name]++
			}
		}
	}
	return fromPlacement(out, p, counts)
}

func withError(out *Distribution, err error) *Distribution {
	out.Problems, out.Health = []string{err.Error()}, Blocked
	return out
}

// fromPlacement takes a placement over.
func fromPlacement(out *Distribution, p *diagnose.Placement, updated map[string]int) *Distribution {
	out.Wanted, out.Problems = p.Replicas, p.Why
	for _, s := range p.Subsets {
		out.Got += len(s.Pods)
		out.Places = append(out.Places, Place{
			Name: s.Name, Limit: s.Limits, Wanted: s.Wish, Got: len(s.Pods), Ready: s.Ready, Updated: updated[s.Name],
			Health: subsetHealth(s), Why: strings.Join(s.Why, "; "),
		})
	}
	return withHealth(out)
}

// subsetHealth: pods without a node do not find one by themselves; pods in another
// place than they should be are not moved, which is no fault.
func subsetHealth(s diagnose.Subset) Health {
	switch {
	case slices.ContainsFunc(s.Pods, func(p diagnose.PlacedPod) bool { return p.Unschedulable != "" }):
		return Blocked
	case s.Ready < len(s.Pods) || len(s.Pods) < s.Wish:
		return Progressing
	case s.Name == diagnose.Outside || len(s.Pods) != s.Wish:
		return Degraded
	}
	return Healthy
}

// withHealth is as urgent as the most urgent of its places, and degraded where only the
// whole has a problem.
func withHealth(out *Distribution) *Distribution {
	out.Health = Healthy
	if len(out.Problems) > 0 {
		out.Health = Degraded
	}
	for _, p := range out.Places {
		out.Health = max(out.Health, p.Health)
	}
	return out
}

func of(kind, namespace, name string) cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: kind, Namespace: namespace, Name: name}
}
