package rules

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// VersionIgnored is the version of all pods of the kinds whose versions a WorkloadSpread does not
// distinguish: all but Deployment and ReplicaSet.
const VersionIgnored = "versionIgnored"

// Spread is a WorkloadSpread with the pods of its target, as its webhook and its
// controller see them (docs/kruise/distribution.md#workloadspread).
type Spread struct {
	Name string
	Spec *kruise.WorkloadSpreadSpec
	// Status is what was written last; nil is nothing.
	Status *kruise.WorkloadSpreadStatus
	// Replicas is what percentages are of: the target's replicas, the parallelism
	// of a Job, or the sum of targetFilter.replicasPathList.
	Replicas int
	// Latest is the version of the target's newest pods: the template hash of a
	// Deployment's newest ReplicaSet, the label of that name of a ReplicaSet (empty
	// where it has none), [VersionIgnored] for other kinds.
	Latest string
	// Pods are those of the target, in any state.
	Pods []*cluster.Pod
	Now  time.Time
}

// Version is the version of a pod for the WorkloadSpread.
func (s *Spread) Version(p *cluster.Pod) string {
	if hash := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" && s.targets(kruise.KindDeployment, kruise.KindReplicaSet) {
		return hash
	}
	return VersionIgnored
}

func (s *Spread) targets(kinds ...string) bool {
	ref := s.Spec.TargetReference
	return ref != nil && slices.Contains(kinds, ref.Kind)
}

// Admits reports whether the webhook looks at a new pod with these labels. A
// targetFilter without selector matches none there.
func (s *Spread) Admits(set map[string]string) bool {
	f := s.Spec.TargetFilter
	return f == nil || f.Selector != nil && selects(f.Selector, set)
}

// counts reports whether the controller looks at the pod. Without a selector it
// looks at all, unlike the webhook (recorded in 030).
func (s *Spread) counts(p *cluster.Pod) bool {
	f := s.Spec.TargetFilter
	return Active(p) && (f == nil || f.Selector == nil || selects(f.Selector, p.Labels))
}

func selects(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// SubsetOf is the subset that the pod's annotation names, or [spread.None].
func (s *Spread) SubsetOf(p *cluster.Pod) int {
	m, ok := spread.ReadMatch(p.Annotations)
	if !ok || m.Spread != s.Name {
		return spread.None
	}
	return slices.IndexFunc(s.Spec.Subsets, func(subset kruise.WorkloadSpreadSubset) bool { return subset.Name == m.Subset })
}

// Unplaced are the bound pods that belong to no subset yet.
func (s *Spread) Unplaced() []*cluster.Pod {
	return filter(s.Pods, func(p *cluster.Pod) bool {
		return s.counts(p) && p.Node != "" && s.SubsetOf(p) == spread.None
	})
}

// share are the active pods of one version in one subset.
type share struct {
	version string
	subset  int
}

// shares groups the pods that count. Versions are all that occur, sorted.
func (s *Spread) shares() (groups map[share][]*cluster.Pod, versions []string) {
	groups = map[share][]*cluster.Pod{}
	for _, p := range s.Pods {
		if s.counts(p) {
			key := share{s.Version(p), s.SubsetOf(p)}
			groups[key] = append(groups[key], p)
			versions = append(versions, key.version)
		}
	}
	slices.SortFunc(versions, strings.Compare)
	return groups, slices.Compact(versions)
}

// SpreadChoice is what the webhook decides about a new pod.
type SpreadChoice struct {
	// Subset is where the pod goes; [spread.None] leaves it as it is.
	Subset int
	// Counted is true when the subset has a limit, so that the pod was counted against it: a pod
	// without a name gets a uid for that.
	Counted bool
	// Status is the WorkloadSpread's status with the pod in it; nil when nothing
	// was counted.
	Status *kruise.WorkloadSpreadStatus
}

// Choose decides for a pod that is about to be created; labels, and the name of a
// StatefulSet's pod, are all that is read of it.
func (s *Spread) Choose(p *cluster.Pod) SpreadChoice {
	subsets := s.Spec.Subsets
	switch {
	case !s.Admits(p.Labels):
		return SpreadChoice{Subset: spread.None}
	case len(subsets) == 1 && subsets[0].MaxReplicas == nil:
		return SpreadChoice{}
	case s.targets(kruise.KindStatefulSet):
		return SpreadChoice{Subset: spread.Ordinal(s.rooms(spread.Limits(subsets, s.Replicas)), OrdinalOf(p))}
	}
	version := s.Version(p)
	// The room of each subset for one version: that of the status, or the limits where the status has no number. While the
	// status does not have the version at all, percentages of a CloneSet that is referred to as v1beta1 are of 0 replicas,
	// so no limited subset has room (recorded in 002).
	var known []kruise.WorkloadSpreadSubsetStatus
	if s.Status != nil {
		known = s.Status.VersionedSubsetStatuses[version]
	}
	replicas := s.Replicas
	if ref := s.Spec.TargetReference; len(known) == 0 && ref != nil && ref.Kind == kruise.KindCloneSet && ref.APIVersion == kruise.Group+"/v1beta1" {
		replicas = 0
	}
	missing := spread.Limits(s.Spec.Subsets, replicas)
	for i, subset := range s.Spec.Subsets {
		if status := statusOf(known, subset.Name); status != nil {
			missing[i] = int(status.MissingReplicas)
		}
	}

	c := SpreadChoice{Subset: spread.Choose(s.rooms(missing))}
	if c.Subset != spread.None && missing[c.Subset] > 0 {
		missing[c.Subset]--
		// A copy of the status in which one version has this room.
		next := s.Count()
		list := next.VersionedSubsetStatuses[version]
		if list == nil {
			list = s.statuses(nil, nil)
		}
		for i := range list {
			list[i].MissingReplicas = int32(missing[i])
		}
		if next.VersionedSubsetStatuses == nil {
			next.VersionedSubsetStatuses = map[string][]kruise.WorkloadSpreadSubsetStatus{}
		}
		next.VersionedSubsetStatuses[version] = list
		c.Counted, c.Status = true, next
	}
	return c
}

func (s *Spread) rooms(missing []int) []spread.Room {
	out := make([]spread.Room, len(missing))
	for i, n := range missing {
		c := s.condition(i)
		out[i] = spread.Room{Missing: n, Closed: c != nil && c.Status == metav1.ConditionFalse}
	}
	return out
}

func statusOf(list []kruise.WorkloadSpreadSubsetStatus, name string) *kruise.WorkloadSpreadSubsetStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// condition is the subset's condition Schedulable, nil without one.
func (s *Spread) condition(i int) *metav1.Condition {
	if s.Status == nil {
		return nil
	}
	status := statusOf(s.Status.SubsetStatuses, s.Spec.Subsets[i].Name)
	if status == nil {
		return nil
	}
	for j := range status.Conditions {
		if status.Conditions[j].Type == string(schedulable) {
			return &status.Conditions[j]
		}
	}
	return nil
}

// schedulable is the condition of a subset under Adaptive.
const schedulable corev1.PodConditionType = "Schedulable"

// Count is the status of the WorkloadSpread as the pods are now. Each version
// that has pods has counts of its own; the limits hold for each of them. The
// generation is left to the store.
func (s *Spread) Count() *kruise.WorkloadSpreadStatus {
	groups, versions := s.shares()
	conditions, _, _ := s.Reschedule()
	total := make([]int, len(s.Spec.Subsets))
	next := &kruise.WorkloadSpreadStatus{}
	for _, version := range versions {
		pods := make([]int, len(s.Spec.Subsets))
		for i := range pods {
			pods[i] = len(groups[share{version, i}])
			total[i] += pods[i]
		}
		if next.VersionedSubsetStatuses == nil {
			next.VersionedSubsetStatuses = map[string][]kruise.WorkloadSpreadSubsetStatus{}
		}
		next.VersionedSubsetStatuses[version] = s.statuses(pods, conditions)
	}
	next.SubsetStatuses = s.statuses(total, conditions)
	if s.Status != nil {
		next.ObservedGeneration = s.Status.ObservedGeneration
	}
	return next
}

// statuses are one entry per subset, with these numbers of pods.
func (s *Spread) statuses(pods []int, conditions []metav1.Condition) []kruise.WorkloadSpreadSubsetStatus {
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	out := make([]kruise.WorkloadSpreadSubsetStatus, len(limits))
	for i, limit := range limits {
		n := 0
		if pods != nil {
			n = pods[i]
		}
		out[i] = kruise.WorkloadSpreadSubsetStatus{
			Name: s.Spec.Subsets[i].Name, Replicas: int32(n), MissingReplicas: int32(spread.Missing(limit, n)),
		}
		if conditions != nil {
			out[i].Conditions = []metav1.Condition{conditions[i]}
		}
	}
	return out
}

// Full reports for each subset whether it has no room for one more pod of the
// version.
func (s *Spread) Full(version string) []bool {
	groups, _ := s.shares()
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	out := make([]bool, len(limits))
	for i, limit := range limits {
		out[i] = spread.Missing(limit, len(groups[share{version, i}])) == 0
	}
	return out
}

// SpreadCost is what a pod costs to delete: the lowest goes first.
type SpreadCost struct {
	Pod  *cluster.Pod
	Cost int
}

// Costs are the deletion costs of all pods that count, in the order of Pods; none
// where the target's kind does not heed them. They overwrite what a user has set.
func (s *Spread) Costs() []SpreadCost {
	if !s.targets(kruise.KindCloneSet, kruise.KindDeployment, kruise.KindReplicaSet) {
		return nil
	}
	groups, _ := s.shares()
	limits := spread.Limits(s.Spec.Subsets, s.Replicas)
	costs := map[*cluster.Pod]int{}
	for key, pods := range groups {
		surplus := 0
		if key.subset != spread.None && limits[key.subset] != spread.Unlimited {
			surplus = max(len(pods)-limits[key.subset], 0)
		}
		within, beyond := s.costsOf(key)
		for i, p := range inOrder(pods) {
			if costs[p] = within; i < surplus {
				costs[p] = beyond
			}
		}
	}
	out := make([]SpreadCost, 0, len(costs))
	for _, p := range s.Pods {
		if cost, ok := costs[p]; ok {
			out = append(out, SpreadCost{p, cost})
		}
	}
	return out
}

// costsOf are the costs of pods within a subset's limit and beyond it. Those of
// an older version are mirrored, so that the first subset is emptied first.
func (s *Spread) costsOf(key share) (within, beyond int) {
	n, i := len(s.Spec.Subsets), key.subset
	if i == spread.None {
		return -100 * (n + 1), 0
	}
	if key.version != s.Latest {
		i = n - 1 - i
	}
	return 100 * (n - i), -100 * (i + 1)
}

// spreadClosed is for how long new pods go past a subset in which one found no
// node.
const spreadClosed = 300 * time.Second

// Reschedule is what Adaptive does about pods that find no node: those that wait
// for too long are stuck and get deleted, and their subset is closed to new ones
// for a while. The last subset always stays open. The conditions are one per
// subset, nil when the strategy does not act; again is when to look next, 0 for
// not before something changes.
func (s *Spread) Reschedule() (conditions []metav1.Condition, stuck []*cluster.Pod, again time.Duration) {
	strategy := s.Spec.ScheduleStrategy
	if strategy.Type != kruise.AdaptiveWorkloadSpreadScheduleStrategyType || strategy.Adaptive == nil ||
		strategy.Adaptive.RescheduleCriticalSeconds == nil || *strategy.Adaptive.RescheduleCriticalSeconds <= 0 {
		return nil, nil, 0
	}
	patience := time.Duration(*strategy.Adaptive.RescheduleCriticalSeconds) * time.Second
	last := len(s.Spec.Subsets) - 1
	closing := make([]bool, last+1)
	for _, p := range s.Pods {
		i := s.SubsetOf(p)
		if i == spread.None || i == last || !s.counts(p) || !Unschedulable(p) {
			continue
		}
		if left := p.Created.Add(patience).Sub(s.Now); left > 0 {
			again = sooner(again, left)
			continue
		}
		closing[i] = true
		stuck = append(stuck, p)
	}
	for i := range s.Spec.Subsets {
		c, left := s.conditionNow(i, closing[i])
		conditions = append(conditions, c)
		again = sooner(again, left)
	}
	return conditions, stuck, again
}

// conditionNow is the condition of a subset, and for how long it stays closed.
func (s *Spread) conditionNow(i int, closing bool) (metav1.Condition, time.Duration) {
	old := s.condition(i)
	next := metav1.Condition{
		Type: string(schedulable), Status: metav1.ConditionTrue, Reason: "Sufficient", LastTransitionTime: metav1.NewTime(s.Now.Truncate(time.Second)),
	}
	left := time.Duration(0)
	if old != nil && old.Status == metav1.ConditionFalse {
		left = old.LastTransitionTime.Add(spreadClosed).Sub(s.Now)
	}
	if closing || left > 0 {
		next.Status, next.Reason = metav1.ConditionFalse, "PodUnschedulable"
		left = max(left, 0)
	}
	if old != nil && old.Status == next.Status {
		next.LastTransitionTime = old.LastTransitionTime
	} else if next.Status == metav1.ConditionFalse {
		left = spreadClosed
	}
	return next, max(left, 0)
}

// Unschedulable reports whether the scheduler has found no node for the pod
// (docs/kruise/distribution.md#which-allocator).
func Unschedulable(p *cluster.Pod) bool {
	c, _ := p.Condition(string(corev1.PodScheduled))
	return p.Phase == corev1.PodPending && p.Node == "" && !p.Deleting &&
		c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}

// sooner is the earlier of two moments to look again, 0 being never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
