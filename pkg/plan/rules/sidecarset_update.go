package rules

import (
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
func (s *SidecarSet) ChooseUpdate() SidecarSetUpdate { return s.choose(s.look()) }

// Round is one look at the pods: the numbers of the status, as in
// [SidecarSet.sidecarSetCounts], and the choice that follows.
func (s *SidecarSet) Round() (kruise.SidecarSetStatus, SidecarSetUpdate) {
	pods := s.look()
	return pods.counts, s.choose(pods)
}

// sidecarSetCounts are the numbers of the status (docs/kruise/sidecarset.md#when-a-pod-is-done).
func (s *SidecarSet) sidecarSetCounts() kruise.SidecarSetStatus { return s.look().counts }

// sidecarPods is what the rules see in the matched pods.
type sidecarPods struct {
	counts kruise.SidecarSetStatus
	// leftOut counts old pods that the update strategy's selector does not match, notUpgradable old
	// pods that only recreation can bring up to date, unready old pods that are not ready, and waiting
	// those that could be upgraded.
	leftOut, notUpgradable, unready, waiting int
	// refuse are pods that are not upgradable and whose condition does not have it yet, flip those
	// whose hot upgrade can be completed.
	refuse, flip []*cluster.Pod
}

// look looks at all pods.
func (s *SidecarSet) look() sidecarPods {
	matches, chosen := s.Matches(), s.chosen()
	return joined(nil, cluster.AskEach(s.Answers, s.question("pods"), s.Pods, func(p *cluster.Pod) (n sidecarPods) {
		if matches(p) {
			n.add(s, p, chosen)
		}
		return n
	}, joined))
}

// joined is what is seen in pods together.
func joined(_ []*cluster.Pod, parts []sidecarPods) (all sidecarPods) {
	for i := range parts {
		n := &parts[i]
		all.counts.MatchedPods += n.counts.MatchedPods
		all.counts.ReadyPods += n.counts.ReadyPods
		all.counts.UpdatedPods += n.counts.UpdatedPods
		all.counts.UpdatedReadyPods += n.counts.UpdatedReadyPods
		all.leftOut += n.leftOut
		all.notUpgradable += n.notUpgradable
		all.unready += n.unready
		all.waiting += n.waiting
		all.refuse = append(all.refuse, n.refuse...)
		all.flip = append(all.flip, n.flip...)
	}
	return all
}

// add looks at a matched pod.
func (n *sidecarPods) add(s *SidecarSet, p *cluster.Pod, chosen labels.Selector) {
	updated, healthy := s.Updated(p), s.Complete(p) && s.Ready(p)
	n.counts.MatchedPods++
	n.counts.ReadyPods += one(healthy)
	n.counts.UpdatedPods += one(updated)
	n.counts.UpdatedReadyPods += one(updated && healthy)
	if s.flipReady(p) {
		n.flip = append(n.flip, p)
	}
	if updated {
		return
	}
	n.unready += int(one(!s.Ready(p)))
	n.leftOut += int(one(!chosen.Matches(labels.Set(p.Labels))))
	n.waiting += int(one(s.waits(p, chosen)))
	if !s.Upgradable(p) {
		n.notUpgradable++
		if _, unmarked := s.UpgradableCondition(p, false); unmarked {
			n.refuse = append(n.refuse, p)
		}
	}
}

func one(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// waits reports whether an upgrade could take a matched pod now.
func (s *SidecarSet) waits(p *cluster.Pod, chosen labels.Selector) bool {
	return !s.Updated(p) && s.Upgradable(p) && chosen.Matches(labels.Set(p.Labels)) && !s.InFlight(p)
}

// sidecarQuestion is what is asked of pods, with what the answer depends on beside the pods.
type sidecarQuestion struct {
	what, name, hash, hashWithoutImage  string
	containers                          *kruise.SidecarContainer
	selector, namespaceSelector, chosen *metav1.LabelSelector
	// namespaces are the labels of all namespaces, as text, where these matter.
	namespaces string
	priority   *kruise.UpdatePriorityStrategy
	scatter    string
}

func (s *SidecarSet) question(what string) sidecarQuestion {
	q := sidecarQuestion{
		what: what, name: s.Name, hash: s.Hash, hashWithoutImage: s.HashWithoutImage,
		selector: s.Spec.Selector, namespaceSelector: s.Spec.NamespaceSelector, chosen: s.Spec.UpdateStrategy.Selector,
	}
	if len(s.Spec.Containers) > 0 {
		q.containers = &s.Spec.Containers[0]
	}
	if q.namespaceSelector != nil {
		q.namespaces = fmt.Sprint(s.Namespaces)
	}
	return q
}

func (s *SidecarSet) choose(pods sidecarPods) SidecarSetUpdate {
	out := SidecarSetUpdate{NotUpgradable: pods.notUpgradable, Refuse: pods.refuse}
	switch strategy := s.Spec.UpdateStrategy; {
	case strategy.Type == kruise.NotUpdateSidecarSetStrategyType:
		out.Why = "update strategy NotUpdate: only new pods get the new sidecar"
		return out
	case strategy.Paused:
		out.Why = "paused"
		return out
	}
	if out.Flip = pods.flip; len(out.Flip) > 0 {
		out.Why = "hot upgrades are completed first"
		return out
	}
	s.walk(&out, pods)
	return out
}

// walk takes waiting pods in order: unready ones for free, ready ones as far as
// maxUnavailable goes; the first ready pod that does not fit ends it.
func (s *SidecarSet) walk(out *SidecarSetUpdate, pods sidecarPods) {
	// How many updated pods are not fine.
	matched, down := int(pods.counts.MatchedPods), int(pods.counts.UpdatedPods-pods.counts.UpdatedReadyPods)
	budget := s.MaxUnavailable(matched)
	if s.Brief && down >= budget && pods.unready == 0 {
		out.Why = fmt.Sprintf("%s not ready, maxUnavailable %d", upgradedPodsAre(down), budget)
		return
	}
	kept := s.kept(matched)
	most := max(pods.waiting-kept, 0)
	if most == 0 {
		out.Why = nothingWaits(pods.waiting, kept)
		return
	}
	next, waiting, all := s.candidates()
	order := podsOf(scatter(next, waiting, all)).all()
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
		// [Partition] with percentages rounded down, as SidecarSets have it before Kruise 1.7.5 (docs/kruise/versions.md).
		if partition == nil || partition.Type == intstr.Int {
			return Partition(partition, matched)
		}
		percent, _ := percentage(partition.StrVal)
		return upTo(int(math.Floor(percent*float64(matched)/100)), matched)
	}
	return Partition(partition, matched)
}

func nothingWaits(wait, kept int) string {
	if wait == 0 {
		return "no pod waits for an upgrade"
	}
	return "the partition keeps " + counted.Of(kept, "pod")
}

// candidates are the pods that could be upgraded, before they are scattered, and the numbers of
// these and of all matched pods.
func (s *SidecarSet) candidates() (next draw[*rank], n, pods census) {
	matches, chosen := s.Matches(), s.chosen()
	by := updateOrder{s.Spec.UpdateStrategy.PriorityStrategy, everyValue(s.Spec.UpdateStrategy.ScatterStrategy, s.values)}
	q := s.question("candidates")
	q.priority, q.scatter = by.priority, spelled(by.scatter)
	next, n = by.merge(cluster.AskEach(s.Answers, q, s.Pods, func(p *cluster.Pod) bool { return matches(p) && s.waits(p, chosen) }, by.of))
	q.what = "census"
	return next, n, sum(cluster.AskEach(s.Answers, q, s.Pods, matches, func(block []*cluster.Pod, matched []bool) census {
		return censusOf(those(block, matched), by.scatter)
	}), len(by.scatter))
}

// values are those of a label of the matched pods, in order.
func (s *SidecarSet) values(key string) []string {
	matches := s.Matches()
	out := slices.Concat(cluster.AskEach(s.Answers, s.question("values of "+key), s.Pods, matches, func(block []*cluster.Pod, matched []bool) []string {
		return valuesOf(those(block, matched), key)
	})...)
	slices.Sort(out)
	return slices.Compact(out)
}

// valuesOf are those of a label of pods, in order.
func valuesOf(list []*cluster.Pod, key string) []string {
	var out []string
	for _, p := range list {
		if v, ok := p.Labels[key]; ok {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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
	return s.look().leftOut
}

// everyValue writes the value * out as one term per value that the pods have.
func everyValue(terms []kruise.UpdateScatterTerm, values func(key string) []string) []kruise.UpdateScatterTerm {
	var out []kruise.UpdateScatterTerm
	for _, term := range terms {
		if term.Value != "*" {
			out = append(out, term)
			continue
		}
		for _, v := range values(term.Key) {
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
	if set.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType {
		return pendingOf(status.ObservedGeneration, set.Generation)
	}
	want := status.MatchedPods - int32(s.LeftOut()) - int32(s.kept(int(status.MatchedPods)))
	return pendingOf(status.ObservedGeneration, set.Generation,
		atLeast("updatedPods", status.UpdatedPods, want), atLeast("updatedReadyPods", status.UpdatedReadyPods, want))
}

func upgradedPodsAre(n int) string { return counted.With(n, "upgraded pod is", "upgraded pods are") }
