package controller

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Tally is what a budget's controller would find if it looked at every pod. It is
// kept by a store that sees each change: ten thousand pods are many to look at
// whenever one of them changes.
type Tally struct {
	// Covered are all pods of the budget.
	Covered int
	// Steady are those of them that count as available, recorded ones included,
	// Unrelated those that do not name their budget yet.
	Steady, Unrelated int
	// Owners is how many covered pods each controller has.
	Owners map[cluster.Owner]int
	// Namespace is that of the budget, in which Pods are found.
	Namespace string
	Pods      interface {
		// PodNamed finds a pod by its name, nil when it is gone.
		PodNamed(namespace, name string) *cluster.Pod
	}

	coverage *coverage
}

// Weight is what one pod adds to a tally.
type Weight struct {
	Covered, Steady, Unrelated bool
	Owner                      cluster.Owner
}

// Weigh looks at one pod.
func (v *BudgetView) Weigh(p *cluster.Pod) Weight {
	var ref cluster.Ref
	if w := v.owner(p); w != nil {
		ref = w.Ref
	}
	if p.Namespace != v.Budget.Namespace || !v.coverage().covers(p.Labels, ref) {
		return Weight{}
	}
	b := rules.Budget{Busy: v}
	return Weight{
		Covered: true, Steady: b.Steady(p),
		Unrelated: !p.Deleting && p.RelatedBudget() == "", Owner: p.Owner,
	}
}

// coverage is compiled once for a tally.
func (v *BudgetView) coverage() *coverage {
	if v.Tally == nil {
		return covering(v.Budget)
	}
	if v.Tally.coverage == nil {
		v.Tally.coverage = covering(v.Budget)
	}
	return v.Tally.coverage
}

// Add counts a weight in, or out when by is -1.
func (t *Tally) Add(w Weight, by int) {
	if !w.Covered {
		return
	}
	t.Covered += by
	if w.Steady {
		t.Steady += by
	}
	if w.Unrelated {
		t.Unrelated += by
	}
	if t.Owners == nil {
		t.Owners = map[cluster.Owner]int{}
	}
	if t.Owners[w.Owner] += by; t.Owners[w.Owner] == 0 {
		delete(t.Owners, w.Owner)
	}
}

func (t *Tally) stays(name string) bool {
	p := t.Pods.PodNamed(t.Namespace, name)
	return p != nil && !p.Deleting
}

// current leaves out the recorded pods.
func (t *Tally) current(b *rules.Budget) int {
	n := t.Steady
	seen := map[string]bool{}
	for _, list := range [][]string{b.Disrupted, b.Unavailable} {
		for _, name := range list {
			if p := t.Pods.PodNamed(t.Namespace, name); p != nil && !seen[name] && b.Steady(p) {
				seen[name] = true
				n--
			}
		}
	}
	return n
}

func (t *Tally) expected(v *BudgetView) int {
	var owners []*cluster.Workload
	for owner := range t.Owners {
		if owner.Kind != "" {
			owners = append(owners, v.owner(&cluster.Pod{Namespace: v.Budget.Namespace, Owner: owner}))
		}
	}
	return v.expected(owners)
}
