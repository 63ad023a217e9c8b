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

// UpdateCandidates returns the pods that an update could take next, in order;
// back asks for those that a rollback would take (docs/kruise/workloads.md#update-order).
func (c *CloneSet) UpdateCandidates(back bool) []*cluster.Pod {
	return slices.Collect(c.updateOrder(back))
}

// updateOrder is UpdateCandidates for a caller that needs only the first of them: the other pods are
// not read.
func (c *CloneSet) updateOrder(back bool) iter.Seq[*cluster.Pod] {
	rolling := c.rolling()
	s := c.renewed()
	ranked := s.rankedPlaces(rolling.PriorityStrategy, back)
	order := slices.Values(ranked)
	if len(rolling.ScatterStrategy) > 0 {
		order = s.scattered(ranked, rolling.ScatterStrategy)
	}
	if s.anyPreparing() {
		return s.preparedFirst(slices.Collect(order))
	}
	return func(yield func(*cluster.Pod) bool) {
		for place := range order {
			if !yield(s.pods[place]) {
				return
			}
		}
	}
}

// scattered are the places of the candidates in the order of a scatter strategy among all active
// pods.
func (s *Survey) scattered(candidates []int, terms []kruise.UpdateScatterTerm) iter.Seq[int] {
	if len(terms) > maxRememberedTerms {
		return func(yield func(int) bool) {
			list := s.podsAt(slices.Values(candidates))
			for at := range newDispersion(list, s.active(), terms).scatter(everyPlace(len(list))) {
				if !yield(candidates[at]) {
					return
				}
			}
		}
	}
	if !slices.Equal(s.terms, terms) {
		s.terms = slices.Clone(terms)
		for at := range s.notes {
			s.notes[at].scatter = scatterNote{}
		}
	}
	return rememberedDispersion(len(s.notes), terms, func(at int) (*cluster.Pod, *scatterNote) {
		n := &s.notes[at]
		if !n.traits.has(traitActive) {
			return nil, &n.scatter
		}
		return s.pods[at], &n.scatter
	}).scatter(candidates)
}

// preparedFirst are the pods of places, with those in front that were chosen before and that a hook
// holds.
func (s *Survey) preparedFirst(places []int) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for _, prepared := range []bool{true, false} {
			for _, at := range places {
				if s.notes[at].traits.has(traitPreparingUpdate) == prepared && !yield(s.pods[at]) {
					return
				}
			}
		}
	}
}

// anyPreparing reports whether a hook holds a pod before its update.
func (s *Survey) anyPreparing() bool {
	for t := range s.tally {
		if t.has(traitPreparingUpdate) {
			return true
		}
	}
	return false
}

func preparingUpdate(p *cluster.Pod) bool { return StateOf(p) == StatePreparingUpdate }

// ChooseUpdate decides which pods one pass updates, provided that scaling had
// nothing to do (docs/kruise/workloads.md#one-reconcile and docs/kruise/workloads.md#update-order).
func (c *CloneSet) ChooseUpdate() Choice {
	choice, budget, ok := c.mayUpdate()
	if !ok {
		return choice
	}
	order := c.UpdateCandidates(choice.Back)
	choice.Order = order[:min(budget.wanted, len(order))]
	if !c.rolling().Paused {
		budget.take(c, &choice, slices.Values(choice.Order))
	}
	return choice
}

// TakeUpdate is ChooseUpdate without an Order, for a controller that makes pass after pass: it reads
// no more pods than it takes.
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
