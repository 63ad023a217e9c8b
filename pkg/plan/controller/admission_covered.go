package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// budgetFor is a budget with its selector compiled.
type budgetFor struct {
	*kruise.PodUnavailableBudget
	covers func(own map[string]string, owner cluster.Ref) bool
}

// budgetOf names the budget of a pod that is created; it is empty without one.
func (a *Admission) budgetOf(n Newcomer) string {
	for _, b := range a.budgets {
		if b.Namespace == n.Namespace && b.covers(n.Labels, n.Owner) {
			return b.Name
		}
	}
	return ""
}

// covering returns whether the budget is for a pod with some labels, whose
// workload is owner.
func covering(b *kruise.PodUnavailableBudget) func(own map[string]string, owner cluster.Ref) bool {
	if t := b.Spec.TargetReference; t != nil {
		version, err := schema.ParseGroupVersion(t.APIVersion)
		return func(_ map[string]string, owner cluster.Ref) bool {
			return err == nil && owner.Group == version.Group && owner.Kind == t.Kind && owner.Name == t.Name
		}
	}
	if s := b.Spec.Selector; s != nil && len(s.MatchExpressions) == 0 && len(s.MatchLabels) > 0 {
		return func(own map[string]string, _ cluster.Ref) bool { return holds(own, s.MatchLabels) }
	}
	selector := selectorOf(b.Spec.Selector)
	return func(own map[string]string, _ cluster.Ref) bool { return selector.Matches(labels.Set(own)) }
}

// holds reports whether all wanted labels are there: a compiled selector says the
// same at ten times the price, for every pod in every pass.
func holds(own, want map[string]string) bool {
	for k, v := range want {
		if have, ok := own[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// selectorOf compiles a selector; an empty or unreadable one matches nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return labels.Nothing()
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return compiled
}

// covered returns the budget's pods, and how many it expects.
func (v *BudgetView) covered() (list []*cluster.Pod, expected int) {
	covers := covering(v.Budget)
	var owners []*cluster.Workload
	var owner *cluster.Workload
	var last cluster.Owner
	for i, p := range v.Pods {
		if i == 0 || p.Owner != last {
			owner, last = v.owner(p), p.Owner
		}
		var ref cluster.Ref
		if owner != nil {
			ref = owner.Ref
		}
		if covers(p.Labels, ref) {
			list = append(list, p)
			if p.Owner.Kind != "" && (len(owners) == 0 || owners[len(owners)-1] != owner) {
				owners = append(owners, owner)
			}
		}
	}
	return list, v.expected(owners)
}

func (v *BudgetView) owner(p *cluster.Pod) *cluster.Workload {
	if p.Owner.Kind == "" || v.Workloads == nil {
		return nil
	}
	return standingFor(v.Workloads(p.Namespace, p.Owner), v.Budget.Spec.TargetReference)
}

// standingFor is the workload under the name of a target which it stands for where
// there is no Kruise.
func standingFor(w *cluster.Workload, t *kruise.TargetReference) *cluster.Workload {
	if w == nil || t == nil || w.Labels[kruise.SourceLabel] != kruise.SourceValue(t.Kind, t.Name) {
		return w
	}
	out := *w
	version, _ := schema.ParseGroupVersion(t.APIVersion)
	out.Ref = cluster.Ref{Group: version.Group, Kind: t.Kind, Namespace: w.Namespace, Name: t.Name}
	return &out
}

// expected sums up over the distinct workloads; one that cannot be scaled counts
// -1, which voids a maxUnavailable. owners are nil where they are not known.
func (v *BudgetView) expected(owners []*cluster.Workload) int {
	if t := v.Budget.Spec.TargetReference; t != nil {
		for _, w := range owners {
			if w != nil && w.Kind == t.Kind && w.Name == t.Name {
				return replicasOf(w)
			}
		}
		if v.Workloads == nil {
			return 0
		}
		w := v.Workloads(v.Budget.Namespace, cluster.Owner{Kind: t.Kind, Name: t.Name})
		if w == nil {
			return 0
		}
		return replicasOf(w)
	}
	sum := 0
	seen := map[cluster.Ref]bool{}
	for _, w := range owners {
		var ref cluster.Ref
		if w != nil {
			ref = w.Ref
		}
		if !seen[ref] {
			seen[ref] = true
			sum += replicasOf(w)
		}
	}
	return sum
}

// replicasOf is spec.replicas, or -1 for what has none.
func replicasOf(w *cluster.Workload) int {
	if w == nil {
		return -1
	}
	n, ok := cluster.Of(w.Object).Replicas()
	if !ok {
		return -1
	}
	return n
}
