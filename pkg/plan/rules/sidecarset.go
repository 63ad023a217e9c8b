package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSet is a SidecarSet with all that the rules of its update look at.
type SidecarSet struct {
	Name string
	Spec *kruise.SidecarSetSpec
	// Hash and HashWithoutImage are its own annotations.
	Hash, HashWithoutImage string
	// ResourceVersion is what hot-upgraded containers get as their version.
	ResourceVersion string
	// Revision is status.latestRevision.
	Revision string
	// Namespaces are the labels of each namespace; one that is not here is not
	// matched by a namespaceSelector.
	Namespaces map[string]map[string]string
	// Pods are all pods that there are.
	Pods []*cluster.Pod
	// RoundsDown is that percentages are rounded down, see [kruise.Release.RoundsSidecarSetsDown].
	RoundsDown bool
	// Brief has [SidecarSet.ChooseUpdate] leave out the order of what comes later
	// where nothing can be taken now: it saves a controller the sorting.
	Brief bool
}

// Matched returns the pods that count: matched by both selectors, active, and
// injected with every container of the current set (docs/kruise/sidecarset.md#matched-pods).
// Pods that predate the set never match.
func (s *SidecarSet) Matched() []*cluster.Pod {
	selects := s.Selects()
	return filter(s.Pods, func(p *cluster.Pod) bool { return Active(p) && selects(p) && s.injected(p) })
}

// Selects reports which pods both selectors match; an empty selector matches none.
func (s *SidecarSet) Selects() func(*cluster.Pod) bool {
	if s.Spec.Selector == nil || len(s.Spec.Selector.MatchLabels)+len(s.Spec.Selector.MatchExpressions) == 0 {
		return func(*cluster.Pod) bool { return false }
	}
	selector, inNamespace := selectorOf(s.Spec.Selector), s.namespaces()
	return func(p *cluster.Pod) bool { return selector.Matches(labels.Set(p.Labels)) && inNamespace(p.Namespace) }
}

// selectorOf compiles a selector; one that cannot be read matches nothing.
func selectorOf(s *metav1.LabelSelector) labels.Selector {
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return compiled
}

func (s *SidecarSet) namespaces() func(string) bool {
	if s.Spec.NamespaceSelector == nil {
		return func(string) bool { return true }
	}
	selector, asked := selectorOf(s.Spec.NamespaceSelector), map[string]bool{}
	return func(name string) bool {
		matches, ok := asked[name]
		if !ok {
			set, known := s.Namespaces[or(name, corev1.NamespaceDefault)]
			matches = known && selector.Matches(labels.Set(set))
			asked[name] = matches
		}
		return matches
	}
}

// injected reports whether the pod lists the set and has its containers.
func (s *SidecarSet) injected(p *cluster.Pod) bool {
	if !s.Listed(p) {
		return false
	}
	var working map[string]string
	if s.anyHot() {
		working = WorkingContainers(p)
	}
	for i := range s.Spec.Containers {
		c := &s.Spec.Containers[i]
		for _, name := range containerNames(c) {
			if _, ok := p.Container(name); !ok {
				return false
			}
		}
		if _, ok := working[c.Name]; hot(c) && !ok {
			return false
		}
	}
	return true
}

// Listed reports whether the pod lists the set among those that were injected into it.
func (s *SidecarSet) Listed(p *cluster.Pod) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), s.Name)
}

// Updated reports whether the pod carries the set's hash.
func (s *SidecarSet) Updated(p *cluster.Pod) bool {
	return sidecarHash(p, kruise.SidecarSetHashAnnotation, s.Name) == s.Hash
}

// Upgradable reports whether the pod differs from the set in images at most;
// any other difference needs a new pod (docs/kruise/sidecarset.md#what-can-change-in-place).
func (s *SidecarSet) Upgradable(p *cluster.Pod) bool {
	return sidecarHash(p, kruise.SidecarSetHashWithoutImageAnnotation, s.Name) == s.HashWithoutImage
}

// sidecarHash reads one entry of a hash annotation, in its present or older
// form; what cannot be read is no hash.
func sidecarHash(p *cluster.Pod, annotation, set string) string {
	text := p.Annotations[annotation]
	if hash, ok := writtenHash(text, set); ok {
		return hash
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &entries) != nil {
		return ""
	}
	var entry struct {
		Hash string `json:"hash"`
	}
	if json.Unmarshal(entries[set], &entry) == nil {
		return entry.Hash
	}
	var older string
	_ = json.Unmarshal(entries[set], &older)
	return older
}

// writtenHash finds the hash where Kruise writes it: compact, and right after the
// time. It saves reading the JSON of every pod in every pass; ok is false for
// text of any other form. A quotation mark inside a text would have a backslash,
// so what is found is a key.
func writtenHash(text, set string) (hash string, ok bool) {
	const head = `":{"updateTimestamp":"`
	for rest := text; ; {
		i := strings.Index(rest, head)
		if i < 0 {
			return "", false
		}
		name := rest[:i]
		rest = rest[i+len(head):]
		if !strings.HasSuffix(name, set) || !strings.HasSuffix(name[:len(name)-len(set)], `"`) {
			continue
		}
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", false
		}
		hash, ok = strings.CutPrefix(rest[end:], `","hash":"`)
		if !ok {
			return "", false
		}
		hash, _, ok = strings.Cut(hash, `"`)
		return hash, ok && !strings.Contains(hash, `\`)
	}
}

func (s *SidecarSet) anyHot() bool {
	for i := range s.Spec.Containers {
		if hot(&s.Spec.Containers[i]) {
			return true
		}
	}
	return false
}

func hot(c *kruise.SidecarContainer) bool {
	return c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade
}

// containerNames are the names that a sidecar has in the pod.
func containerNames(c *kruise.SidecarContainer) []string {
	if hot(c) {
		return []string{c.Name + "-1", c.Name + "-2"}
	}
	return []string{c.Name}
}

// WorkingContainers maps each hot-upgrade sidecar of a pod to the one of its two
// containers that works (docs/kruise/sidecarset.md#hot-upgrade).
func WorkingContainers(p *cluster.Pod) map[string]string {
	out := map[string]string{}
	_ = json.Unmarshal([]byte(p.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation]), &out)
	return out
}

// SidecarSetFields are the fields of a SidecarSet's spec that come into pods and
// make its revisions. Selectors and strategies do not count (docs/kruise/sidecarset.md#hashes).
func SidecarSetFields() []string {
	return []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"}
}

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

// MaxUnavailable is how many of the matched pods may be down by the update: one
// unless the spec says otherwise, a percentage rounded up (docs/kruise/sidecarset.md#selection).
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

// Pending says what a rollout of the set waits for: all matched pods but those
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
