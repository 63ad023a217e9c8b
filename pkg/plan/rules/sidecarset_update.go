package rules

import (
	"fmt"
	"iter"
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
	// NotUpgradable is how many matched pods only recreation can bring up to date, Refuse are those
	// of them whose condition does not have it yet.
	NotUpgradable int
	Refuse        []*cluster.Pod
	// Choice are the pods that are upgraded now.
	Choice
}

// ChooseUpdate decides which pods one pass upgrades (docs/kruise/sidecarset.md#selection).
func (s *SidecarSet) ChooseUpdate() SidecarSetUpdate { return s.choose(s.surveyed()) }

// Round is one look at the pods: the numbers of the status, as in
// [SidecarSet.SidecarSetCounts], and the choice that follows.
func (s *SidecarSet) Round() (kruise.SidecarSetStatus, SidecarSetUpdate) {
	v := s.surveyed()
	return v.counts, s.choose(v)
}

// SidecarSetCounts are the numbers of the status (docs/kruise/sidecarset.md#when-a-pod-is-done).
func (s *SidecarSet) SidecarSetCounts() kruise.SidecarSetStatus { return s.surveyed().counts }

func (s *SidecarSet) choose(v *SidecarSurvey) SidecarSetUpdate {
	out := SidecarSetUpdate{NotUpgradable: v.notUpgradable, Refuse: v.podsAt(v.unmarked.all())}
	switch strategy := s.Spec.UpdateStrategy; {
	case strategy.Type == kruise.NotUpdateSidecarSetStrategyType:
		out.Why = "update strategy NotUpdate: only new pods get the new sidecar"
		return out
	case strategy.Paused:
		out.Why = "paused"
		return out
	}
	if out.Flip = v.podsAt(v.flips.all()); len(out.Flip) > 0 {
		out.Why = "hot upgrades are completed first"
		return out
	}
	s.walk(&out, v)
	return out
}

// walk takes waiting pods in order: unready ones for free, ready ones as far as
// maxUnavailable goes; the first ready pod that does not fit ends it.
func (s *SidecarSet) walk(out *SidecarSetUpdate, v *SidecarSurvey) {
	matched, down := int(v.counts.MatchedPods), v.down()
	budget := s.MaxUnavailable(matched)
	if s.Brief && down >= budget && v.unready == 0 {
		out.Why = fmt.Sprintf("%s not ready, maxUnavailable %d", upgradedPodsAre(down), budget)
		return
	}
	kept := s.kept(matched)
	most := max(v.waiting.size-kept, 0)
	if most == 0 {
		out.Why = nothingWaits(v.waiting.size, kept)
		return
	}
	order := s.scattered(v)
	if !s.Brief {
		out.Order = slices.Collect(order)[:most]
		order = slices.Values(out.Order)
	}
	for p := range order {
		if len(out.Pods) == most {
			break
		}
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

// scattered are the pods that could be upgraded, in order.
func (s *SidecarSet) scattered(v *SidecarSurvey) iter.Seq[*cluster.Pod] {
	terms := s.Spec.UpdateStrategy.ScatterStrategy
	if len(terms) == 0 {
		return v.sorted()
	}
	if terms = v.everyValue(terms); len(terms) > maxRememberedTerms {
		return slices.Values(scatter(slices.Collect(v.sorted()), v.podsAt(v.matched.all()), terms))
	}
	return v.podsIn(v.dispersion(terms).scatter(v.waitingPlaces()))
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
	return s.surveyed().leftOut
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
	if !p.seen(status.ObservedGeneration, set.Generation) {
		return p
	}
	if set.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return p
	}
	want := status.MatchedPods - int32(s.LeftOut()) - int32(s.kept(int(status.MatchedPods)))
	p.atLeast("updatedPods", status.UpdatedPods, want)
	p.atLeast("updatedReadyPods", status.UpdatedReadyPods, want)
	return p
}

func upgradedPodsAre(n int) string { return counted.With(n, "upgraded pod is", "upgraded pods are") }
