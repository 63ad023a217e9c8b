package rules

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// priority is a pod's place by the priority strategy; smaller comes first.
type priority struct {
	weight int
	// key is the index of the first listed key on the pod, -1 without any.
	key    int
	number string
}

func (a priority) compare(b priority) int {
	if c := cmp.Compare(b.weight, a.weight); c != 0 {
		return c
	}
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return compareDigits(b.number, a.number)
}

// prioritize sorts pods by the priority strategy and keeps the order of those
// that it treats alike (docs/kruise/workloads.md#update-order and
// docs/kruise/workloads.md#in-place-update).
func prioritize(list []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy) []*cluster.Pod {
	if strategy == nil {
		return list
	}
	type placed struct {
		pod *cluster.Pod
		priority
	}
	of := priorities(list, strategy)
	all := make([]placed, len(list))
	for i, p := range list {
		all[i] = placed{p, of[p]}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.compare(b.priority) })
	out := make([]*cluster.Pod, len(all))
	for i, p := range all {
		out[i] = p.pod
	}
	return out
}

func priorities(list []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy) map[*cluster.Pod]priority {
	of := make(map[*cluster.Pod]priority, len(list))
	if strategy == nil {
		return of
	}
	selectors := weightSelectors(strategy)
	for _, p := range list {
		of[p] = priorityOf(p, strategy, selectors)
	}
	return of
}

func priorityOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy, selectors []labels.Selector) priority {
	return priority{
		weight: weightOf(p, strategy, selectors),
		key:    keyOf(p, strategy), number: numberOf(p, strategy),
	}
}

func weightSelectors(strategy *kruise.UpdatePriorityStrategy) []labels.Selector {
	out := make([]labels.Selector, len(strategy.WeightPriority))
	for i := range strategy.WeightPriority {
		s, err := metav1.LabelSelectorAsSelector(&strategy.WeightPriority[i].MatchSelector)
		if err != nil {
			s = labels.Nothing()
		}
		out[i] = s
	}
	return out
}

func weightOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy, selectors []labels.Selector) int {
	sum := 0
	for i, term := range strategy.WeightPriority {
		if selectors[i].Matches(labels.Set(p.Labels)) {
			sum += int(term.Weight)
		}
	}
	return sum
}

// keyOf returns which listed key the pod has; pods with none come first.
func keyOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy) int {
	return slices.IndexFunc(strategy.OrderPriority, func(t kruise.UpdatePriorityOrderTerm) bool {
		_, ok := p.Labels[t.OrderedKey]
		return ok
	})
}

func numberOf(p *cluster.Pod, strategy *kruise.UpdatePriorityStrategy) string {
	i := keyOf(p, strategy)
	if i < 0 {
		return ""
	}
	return trailingDigits(p.Labels[strategy.OrderPriority[i].OrderedKey])
}

// trailingDigits returns the number that a label's value ends in, without
// leading zeros; a value without one counts as 0.
func trailingDigits(v string) string {
	return strings.TrimLeft(v[len(strings.TrimRight(v, "0123456789")):], "0")
}

func compareDigits(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
