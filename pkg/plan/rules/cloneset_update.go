package rules

import (
	"fmt"
	"iter"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Choice is which pods a controller takes now, and why no more.
type Choice struct {
	// Pods are taken now, in this order.
	Pods []*cluster.Pod
	// Order is every pod that this update will take, those of this pass first, if nothing else
	// changes. It is nil where only the pods of this pass were asked for.
	Order []*cluster.Pod
	// Back is true when pods return to the current revision.
	Back bool
	// Why names what ends the choice: a gate, a budget, a pod.
	Why string
}

// updateCandidates returns the pods that an update could take next, in order: by the priority
// strategy and in the default order, scattered, and those in front that were chosen before and that
// a hook holds. back asks for those that a rollback would take (docs/kruise/workloads.md#update-order).
func (c *CloneSet) updateCandidates(back bool) []*cluster.Pod {
	return slices.Collect(c.updateOrder(back))
}

// updateOrder is UpdateCandidates for a caller that may need only the first of them.
func (c *CloneSet) updateOrder(back bool) iter.Seq[*cluster.Pod] {
	next, n := c.candidates(back)
	order := podsOf(scatter(next, n, c.census())).all()
	if len(c.where("prepared", preparingUpdate)) == 0 {
		return order
	}
	list := slices.Collect(order)
	return slices.Values(append(filter(list, preparingUpdate), filter(list, not(preparingUpdate))...))
}

// candidates are the pods that an update, or a rollback, could take, before they are scattered
// (docs/kruise/workloads.md#update-order, docs/kruise/workloads.md#cloneset and
// docs/kruise/workloads.md#in-place-update).
func (c *CloneSet) candidates(back bool) (draw[*rank], census) {
	by := updateOrder{c.rolling().PriorityStrategy, c.rolling().ScatterStrategy}
	q := c.question("candidates")
	q.back, q.priority, q.scatter = back, by.priority, spelled(by.scatter)
	return by.merge(cluster.AskEach(c.Answers, q, c.Pods, func(p *cluster.Pod) bool {
		return Active(p) && c.updated(p) == back && !preparingDelete(p) && !p.GraceAnnounced()
	}, by.of))
}

// census counts the active pods for the scatter strategy.
func (c *CloneSet) census() census {
	terms := c.rolling().ScatterStrategy
	q := c.question("census")
	q.scatter = spelled(terms)
	return sum(cluster.AskEach(c.Answers, q, c.Pods, Active, func(block []*cluster.Pod, active []bool) census {
		return censusOf(those(block, active), terms)
	}), len(terms))
}

func preparingUpdate(p *cluster.Pod) bool { return StateOf(p) == StatePreparingUpdate }

// ChooseUpdate decides which pods one pass updates, provided that scaling had
// nothing to do (docs/kruise/workloads.md#one-reconcile and docs/kruise/workloads.md#update-order).
func (c *CloneSet) ChooseUpdate() Choice {
	choice, budget, ok := c.mayUpdate()
	if !ok {
		return choice
	}
	order := c.updateCandidates(choice.Back)
	choice.Order = order[:min(budget.wanted, len(order))]
	if !c.rolling().Paused {
		budget.take(c, &choice, slices.Values(choice.Order))
	}
	return choice
}

// TakeUpdate is ChooseUpdate without an Order, for a controller that makes pass after pass: it sorts
// no pods while none can be taken.
func (c *CloneSet) TakeUpdate() Choice {
	choice, budget, ok := c.mayUpdate()
	if !ok || c.rolling().Paused {
		return choice
	}
	if why := budget.exhausted(); why != "" {
		choice.Why = why
		return choice
	}
	budget.take(c, &choice, c.updateOrder(choice.Back))
	return choice
}

// updateBudget is what the walk over the update order may spend.
type updateBudget struct {
	// wanted is how many pods change their revision in the end.
	wanted, limit int
	// unavailable are all such pods; atTarget those of them at the target
	// revision, others those that are not.
	unavailable, atTarget, others int
}

// mayUpdate reports whether there are pods to update. The choice has the reason if there are none.
func (c *CloneSet) mayUpdate() (Choice, updateBudget, bool) {
	if c.Spec.UpdateStrategy.Type == kruise.OnDeleteCloneSetStrategyType {
		return Choice{Why: "update strategy OnDelete: pods are updated when they are deleted"}, updateBudget{}, false
	}
	n := c.Count(false)
	d := LimitsOfCloneSet(c.Spec).Diff(n)
	if d.Update == 0 {
		return Choice{Why: "as many pods are updated as the partition asks for"}, updateBudget{}, false
	}
	choice := Choice{Back: d.Update < 0}
	if c.rolling().Paused {
		choice.Why = "paused"
	}
	b := updateBudget{wanted: abs(d.Update), limit: d.UpdateBudget, atTarget: n.New.Active - n.New.Available, others: n.Old.Active - n.Old.Available}
	if choice.Back {
		b.atTarget, b.others = b.others, b.atTarget
	}
	b.unavailable = b.atTarget + b.others
	return choice, b, true
}

// exhausted reports why no pod at all can be taken, whatever their order.
func (b updateBudget) exhausted() string {
	switch {
	case b.atTarget >= b.limit:
		return b.tooMany(0) + "the next pod waits"
	case b.others == 0 && b.unavailable >= b.limit:
		return b.allDown(b.unavailable) + "the next pod waits"
	}
	return ""
}

func (b updateBudget) tooMany(taken int) string {
	return fmt.Sprintf("%s not available yet, at most %d: ", counted.With(b.atTarget+taken, "pod of the target revision is", "pods of the target revision are"), b.limit)
}

func (b updateBudget) allDown(n int) string {
	return fmt.Sprintf("%s not available, at most %d: ", counted.PodsAre(n), b.limit)
}

// take takes pods in order until one does not fit; a pod that is unavailable
// anyway costs nothing, but not more of them are in the air than the budget.
func (b updateBudget) take(c *CloneSet, choice *Choice, order iter.Seq[*cluster.Pod]) {
	unavailable := b.unavailable
	for p := range order {
		if len(choice.Pods) == b.wanted {
			break
		}
		if b.atTarget+len(choice.Pods) >= b.limit {
			choice.Why = b.tooMany(len(choice.Pods)) + p.Name + " waits"
			return
		}
		if c.available(p) {
			if unavailable >= b.limit {
				choice.Why = b.allDown(unavailable) + p.Name + " waits"
				return
			}
			unavailable++
		}
		choice.Pods = append(choice.Pods, p)
	}
	choice.Why = "these are all"
}
