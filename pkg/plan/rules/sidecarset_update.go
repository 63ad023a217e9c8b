package rules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSetUpdate is what one pass does.
type SidecarSetUpdate struct {
	// Flip are pods whose hot upgrade is completed; while there are any,
	// nothing else happens.
	Flip []*cluster.Pod
	// NotUpgradable are matched pods that only recreation can bring up to date.
	NotUpgradable []*cluster.Pod
	// Choice are the pods that are upgraded now.
	Choice
}

// ChooseUpdate decides which pods one pass upgrades (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) ChooseUpdate() SidecarSetUpdate {
	_, out := s.Round()
	return out
}

// Round is one look at all pods: the numbers of the status, as in
// [SidecarSet.SidecarSetCounts], and the choice that follows.
func (s *SidecarSet) Round() (kruise.SidecarSetStatus, SidecarSetUpdate) {
	matched := s.Matched()
	counts, old, down := s.inspect(matched)
	return counts, s.choose(matched, old, down)
}

// inspect counts the pods; old are those that are not updated, down how many updated
// ones are not fine.
func (s *SidecarSet) inspect(matched []*cluster.Pod) (n kruise.SidecarSetStatus, old []*cluster.Pod, down int) {
	n.MatchedPods = int32(len(matched))
	for _, p := range matched {
		ready := s.healthy(p)
		n.ReadyPods += one(ready)
		if !s.Updated(p) {
			old = append(old, p)
			continue
		}
		n.UpdatedPods++
		n.UpdatedReadyPods += one(ready)
		if !ready {
			down++
		}
	}
	return n, old, down
}

// SidecarSetCounts are the numbers of the status (docs/kruise/sidecarset.md#when-a-pod-is-done).
func (s *SidecarSet) SidecarSetCounts() kruise.SidecarSetStatus {
	n, _, _ := s.inspect(s.Matched())
	return n
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func (s *SidecarSet) choose(matched, old []*cluster.Pod, down int) SidecarSetUpdate {
	out := SidecarSetUpdate{NotUpgradable: filter(old, not(s.Upgradable))}
	switch strategy := s.Spec.UpdateStrategy; {
	case strategy.Type == kruise.NotUpdateSidecarSetStrategyType:
		out.Why = "update strategy NotUpdate: only new pods get the new sidecar"
		return out
	case strategy.Paused:
		out.Why = "paused"
		return out
	}
	if out.Flip = filter(matched, s.FlipReady); len(out.Flip) > 0 {
		out.Why = "hot upgrades are completed first"
		return out
	}
	s.walk(&out, matched, old, down)
	return out
}

// walk takes waiting pods in order: unready ones for free, ready ones as far as
// maxUnavailable goes; the first ready pod that does not fit ends it.
func (s *SidecarSet) walk(out *SidecarSetUpdate, matched, old []*cluster.Pod, down int) {
	budget := s.MaxUnavailable(len(matched))
	if s.Brief && down >= budget && !slices.ContainsFunc(old, not(s.Ready)) {
		out.Why = fmt.Sprintf("%s not ready, maxUnavailable %d", upgradedPodsAre(down), budget)
		return
	}
	wait := s.waiting(old, matched)
	kept := s.kept(len(matched))
	out.Order = wait[:max(len(wait)-kept, 0)]
	if len(out.Order) == 0 {
		out.Why = nothingWaits(len(wait), kept)
		return
	}
	for _, p := range out.Order {
		if s.Ready(p) {
			if down >= budget {
				out.Why = fmt.Sprintf("%s not ready, maxUnavailable %d: %s waits", upgradedPodsAre(down), budget, p.Name)
				return
			}
			down++
		}
		out.Pods = append(out.Pods, p)
	}
	out.Why = "these are all"
}

// MaxUnavailable is how many of the matched pods may be unavailable because of the update: one by
// default, a percentage rounded up (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) MaxUnavailable(matched int) int {
	return scaledOr(s.Spec.UpdateStrategy.MaxUnavailable, intstr.FromInt32(1), matched, !s.RoundsDown)
}

// kept is how many of the matched pods the partition keeps.
func (s *SidecarSet) kept(matched int) int {
	return s.Keeps(s.Spec.UpdateStrategy.Partition, matched)
}

// Keeps is how many of the matched pods a partition keeps.
func (s *SidecarSet) Keeps(partition *intstr.IntOrString, matched int) int {
	if s.RoundsDown {
		return partitionDown(partition, matched)
	}
	return Partition(partition, matched)
}

func nothingWaits(wait, kept int) string {
	if wait == 0 {
		return "no pod waits for an upgrade"
	}
	return "the partition keeps " + counted.Of(kept, "pod")
}

// waiting returns those of the old pods that could be upgraded, in order.
func (s *SidecarSet) waiting(old, matched []*cluster.Pod) []*cluster.Pod {
	return scatter(s.sorted(old), matched, everyValue(s.Spec.UpdateStrategy.ScatterStrategy, matched))
}

// sorted returns the pods that could be upgraded, before they are scattered.
func (s *SidecarSet) sorted(matched []*cluster.Pod) []*cluster.Pod {
	strategy, chosen := s.Spec.UpdateStrategy, s.chosen()
	list := inOrder(filter(matched, func(p *cluster.Pod) bool {
		return !s.Updated(p) && chosen.Matches(labels.Set(p.Labels)) && s.Upgradable(p) && !s.InFlight(p)
	}))
	return prioritize(list, strategy.PriorityStrategy)
}

// chosen is what the strategy's own selector lets be upgraded.
func (s *SidecarSet) chosen() labels.Selector {
	if selector := s.Spec.UpdateStrategy.Selector; selector != nil {
		return selectorOf(selector)
	}
	return labels.Everything()
}

// Chooses reports whether the strategy's own selector lets a pod be upgraded.
func (s *SidecarSet) Chooses(p *cluster.Pod) bool { return s.chosen().Matches(labels.Set(p.Labels)) }

// LeftOut counts the matched pods that keep an old sidecar because the strategy's own
// selector does not match them (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) LeftOut() int {
	if s.Spec.UpdateStrategy.Selector == nil {
		return 0
	}
	return count(s.Matched(), func(p *cluster.Pod) bool { return !s.Updated(p) && !s.Chooses(p) })
}

// everyValue writes the value * out as one term per value that a pod has.
func everyValue(terms []kruise.UpdateScatterTerm, list []*cluster.Pod) []kruise.UpdateScatterTerm {
	var out []kruise.UpdateScatterTerm
	for _, term := range terms {
		if term.Value != "*" {
			out = append(out, term)
			continue
		}
		var values []string
		for _, p := range list {
			if v, ok := p.Labels[term.Key]; ok && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		for _, v := range values {
			out = append(out, kruise.UpdateScatterTerm{Key: term.Key, Value: v})
		}
	}
	return out
}

// Pending reports what a rollout of the set waits for: all matched pods but those
// that the partition keeps, and those that the strategy's selector leaves out, updated
// and ready (docs/kruise/sidecarset.md#when-a-pod-is-done). A set that never updates pods has
// nothing to wait for. set is the object with the status; s has its spec.
func (s *SidecarSet) Pending(set *kruise.SidecarSet) Pending {
	status := set.Status
	var p Pending
	p.seen(status.ObservedGeneration, set.Generation)
	if set.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return p
	}
	want := status.MatchedPods - int32(s.LeftOut()) - int32(s.kept(int(status.MatchedPods)))
	p.atLeast("updatedPods", status.UpdatedPods, want)
	p.atLeast("updatedReadyPods", status.UpdatedReadyPods, want)
	return p
}

func upgradedPodsAre(n int) string { return counted.With(n, "upgraded pod is", "upgraded pods are") }
