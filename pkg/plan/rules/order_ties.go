package rules

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Ties groups the pods of an update order that Kruise treats alike: inside a
// group any pod may come in the place of any other. Groups of one are left out;
// pods of one group need not stand side by side, since scattering cuts through.
func (c *CloneSet) Ties(order []*cluster.Pod) [][]*cluster.Pod {
	rolling := c.rolling()
	of := priorities(order, rolling.PriorityStrategy)
	same := func(a, b *cluster.Pod) bool {
		return standingOf(a).compare(standingOf(b)) == 0 &&
			of[a].compare(of[b]) == 0 && sameTerms(a, b, rolling.ScatterStrategy) &&
			(StateOf(a) == StatePreparingUpdate) == (StateOf(b) == StatePreparingUpdate)
	}
	var groups [][]*cluster.Pod
	for _, p := range order {
		i := slices.IndexFunc(groups, func(g []*cluster.Pod) bool { return same(g[0], p) })
		if i < 0 {
			groups = append(groups, []*cluster.Pod{p})
		} else {
			groups[i] = append(groups[i], p)
		}
	}
	return slices.DeleteFunc(groups, func(g []*cluster.Pod) bool { return len(g) == 1 })
}

func sameTerms(a, b *cluster.Pod, terms []kruise.UpdateScatterTerm) bool {
	return !slices.ContainsFunc(terms, func(t kruise.UpdateScatterTerm) bool { return carries(t)(a) != carries(t)(b) })
}
