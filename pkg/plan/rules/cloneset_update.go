package rules

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Choice is which pods a controller takes now, and why no more.
type Choice struct {
	// Pods are taken now, in this order.
	Pods []*cluster.Pod
	// Order is every pod that this update will take, the present ones first,
	// as things stand.
	Order []*cluster.Pod
	// Back is true when pods return to the current revision.
	Back bool
	// Why names what ends the choice: a gate, a budget, a pod.
	Why string
}

// UpdateCandidates returns the pods that an update could take next, in order;
// back asks for those that a rollback would take (semantics workloads 1.6).
func (c *CloneSet) UpdateCandidates(back bool) []*cluster.Pod {
	active := c.active()
	rolling := c.rolling()
	list := prioritize(c.candidates(active, back), rolling.PriorityStrategy)
	list = scatter(list, active, rolling.ScatterStrategy)
	return preparedFirst(list)
}

// candidates are the pods that an update could take, in the default order.
func (c *CloneSet) candidates(active []*cluster.Pod, back bool) []*cluster.Pod {
	return inOrder(filter(active, func(p *cluster.Pod) bool {
		_, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]
		return c.updated(p) == back && !preparingDelete(p) && !grace
	}))
}

func preparingUpdate(p *cluster.Pod) bool { return StateOf(p) == StatePreparingUpdate }

// ChooseUpdate decides which pods one pass updates, provided that scaling had
// nothing to do (semantics workloads 1.5, 1.6).
func (c *CloneSet) ChooseUpdate() Choice {
	if c.Spec.UpdateStrategy.Type == kruise.OnDeleteCloneSetStrategyType {
		return Choice{Why: "update strategy OnDelete: pods are updated when somebody deletes them"}
	}
	d := LimitsOfCloneSet(c.Spec).Diff(c.Count(false))
	if d.Update == 0 {
		return Choice{Why: "as many pods are updated as the partition asks for"}
	}
	choice := Choice{Back: d.Update < 0}
	order := c.UpdateCandidates(choice.Back)
	choice.Order = order[:min(abs(d.Update), len(order))]
	if c.rolling().Paused {
		choice.Why = "paused"
		return choice
	}
	c.walk(&choice, d.UpdateBudget)
	return choice
}

// walk takes pods in order until one does not fit; a pod that is unavailable
// anyway costs nothing, but not more of them are in the air than the budget.
func (c *CloneSet) walk(choice *Choice, budget int) {
	down := filter(c.active(), not(c.available))
	atTarget := count(down, func(p *cluster.Pod) bool { return c.updated(p) != choice.Back })
	unavailable := len(down)
	for _, p := range choice.Order {
		if atTarget+len(choice.Pods) >= budget {
			choice.Why = fmt.Sprintf("%d pods of the target revision are not available yet, budget %d: %s waits", atTarget+len(choice.Pods), budget, p.Name)
			return
		}
		if c.available(p) {
			if unavailable >= budget {
				choice.Why = fmt.Sprintf("%d pods are not available, budget %d: %s waits", unavailable, budget, p.Name)
				return
			}
			unavailable++
		}
		choice.Pods = append(choice.Pods, p)
	}
	choice.Why = "these are all"
}
