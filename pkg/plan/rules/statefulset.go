package rules

import (
	"fmt"
	"iter"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// StatefulSet is an Advanced StatefulSet with all that its rules look at.
type StatefulSet struct {
	Spec            *kruise.StatefulSetSpec
	Current, Update string
	// Pods are those that it owns, in any order, finished and terminating ones
	// included.
	Pods  []*cluster.Pod
	Gates cluster.Gates
	Now   time.Time
	// Busy gives more reasons why a pod counts as unavailable: an in-place
	// update that is not complete (see [InPlacePending]), a claim that is being
	// resized. nil means none. With Answers it must not hold for a pod that [Resting] holds for, or
	// in which no in-place update is in progress.
	Busy podUpdates
	// Answers is what is remembered of Pods, nil for nothing; each answer is the same without it.
	Answers *cluster.Answers
	// Arranged is what Arrange returns for the same pods, nil to arrange them for each question.
	Arranged *Arranged
}

// podUpdates reports of a pod whether an update of it is in progress.
type podUpdates interface {
	Updating(*cluster.Pod) bool
}

// Arrange puts the pods in their places.
func (s *StatefulSet) Arrange() *Arranged { return s.ordinals().arrange(s.Ordinals()) }

func (s *StatefulSet) arranged() *Arranged {
	if s.Arranged != nil {
		return s.Arranged
	}
	return s.Arrange()
}

func (s *StatefulSet) ordinals() *ordinals {
	return &ordinals{
		pods: s.Pods, current: s.Current, update: s.Update, minReady: s.minReady(), now: s.Now, answers: s.Answers,
	}
}

// Counts are the numbers of the status.
func (s *StatefulSet) Counts() OrdinalCounts { return s.ordinals().counts() }

// Restless are the pods that [isStill] does not hold for, in the order of the list.
func (s *StatefulSet) Restless() []*cluster.Pod {
	// The pods that [isStill] does not hold for, in the order of the list.
	return s.ordinals().where("restless", not(isStill))
}

// Unsettled are the pods that are restless, or have not been ready for long enough, in the order
// of the list.
func (s *StatefulSet) Unsettled() []*cluster.Pod { return s.ordinals().unsettled() }

// open are the slots that have to be examined. Where nothing is remembered, every pod may be busy.
func (s *StatefulSet) open(o *ordinals, slots []*cluster.Pod) []int {
	if s.Answers == nil && s.Busy != nil {
		return everyPlace(len(slots))
	}
	return o.open(slots)
}

// LimitsOfStatefulSet resolves the numbers of a spec; percentages are rounded
// down, to at least 1 (docs/kruise/workloads.md#percentages-and-defaults).
func LimitsOfStatefulSet(spec *kruise.StatefulSetSpec) Limits {
	replicas := number(spec.Replicas, 1)
	l := Limits{Replicas: replicas, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}
	if r := spec.UpdateStrategy.RollingUpdate; r != nil {
		l.Partition = max(number(r.Partition, 0), 0)
		l.MaxUnavailable = atLeastOne(r.MaxUnavailable, replicas)
	}
	if s := spec.ScaleStrategy; s != nil && s.MaxUnavailable != nil {
		l.ScaleMaxUnavailable = atLeastOne(s.MaxUnavailable, replicas)
	}
	return l
}

func atLeastOne(v *intstr.IntOrString, base int) int {
	return max(scaledOr(v, intstr.FromInt32(1), base, false), 1)
}

// Ordinals returns the ordinals that should exist.
func (s *StatefulSet) Ordinals() []int {
	start := 0
	if s.Gates.StatefulSetStartOrdinal && s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	return Ordinals(start, number(s.Spec.Replicas, 1), s.Spec.ReserveOrdinals)
}

// inRange returns the pods whose ordinal should exist, in the order of
// [StatefulSet.Ordinals]; nil for one that is missing.
func (s *StatefulSet) inRange() []*cluster.Pod { return s.arranged().slots }

// Unavailable reports whether a pod uses the budget up: it is not healthy, its
// in-place update is not complete, or it has not been ready for long enough.
func (s *StatefulSet) Unavailable(p *cluster.Pod) bool {
	if !healthy(p) || (s.Busy != nil && s.Busy.Updating(p)) {
		return true
	}
	return !ReadyFor(p, s.minReady(), s.Now)
}

// healthy is what a StatefulSet asks of a pod: running, ready, staying, and in
// no other lifecycle state than Normal.
func healthy(p *cluster.Pod) bool {
	state := StateOf(p)
	return p.Phase == corev1.PodRunning && podReady(p) && !p.Deleting && (state == StateNone || state == StateNormal)
}

func (s *StatefulSet) minReady() time.Duration {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return seconds(int32(number(r.MinReadySeconds, 0)))
	}
	return 0
}

// updated compares the whole label: a StatefulSet writes the full name.
func (s *StatefulSet) updated(p *cluster.Pod) bool { return RevisionOf(p) == s.Update }

func (s *StatefulSet) parallel() bool {
	return s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (s *StatefulSet) unordered() bool {
	r := s.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.UnorderedUpdate != nil
}

func (s *StatefulSet) paused() bool {
	r := s.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused
}

func (s *StatefulSet) onDelete() bool {
	return s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
}

// Created is a pod that a StatefulSet makes.
type Created struct {
	Ordinal int
	// Update is whether it is made at the update revision.
	Update bool
}

// StatefulSetScale is what the first half of a pass does, from low to high
// ordinal (docs/kruise/workloads.md#advanced-statefulset).
type StatefulSetScale struct {
	Create []Created
	// Remove are finished pods, to be recreated, then condemned ones.
	Remove []*cluster.Pod
	// Stop is true when the pass ends here and does not come to the update.
	Stop bool
	// Until is the last ordinal that the walk came to: no pass looks at pods
	// above it when Stop is true.
	Until int
	// Why names the pod that holds it up; it is empty when nothing does.
	Why string
}

// Scale decides which pods are created and removed now. OrderedReady does one
// thing at a time and goes no further while a pod is not available; Parallel
// does everything, within scaleStrategy.maxUnavailable.
func (s *StatefulSet) Scale() StatefulSetScale {
	var out StatefulSetScale
	left := LimitsOfStatefulSet(s.Spec).ScaleMaxUnavailable
	o, a := s.ordinals(), s.arranged()
	want, slots := a.want, a.slots
	if len(want) > 0 {
		out.Until = want[len(want)-1]
	}
	createsUpdate := s.createsUpdate(o, slots)
	for _, i := range s.open(o, slots) {
		p := slots[i]
		if p != nil && !finished(p) && !s.Unavailable(p) {
			continue
		}
		if left <= 0 {
			out.Until = want[i]
			out.Why = fmt.Sprintf("scaleStrategy.maxUnavailable is used up: %d waits", want[i])
			break
		}
		left--
		s.repair(&out, want[i], p, func() bool { return createsUpdate(i) })
		if !s.parallel() {
			out.Until, out.Stop = want[i], true
			return out
		}
	}
	s.condemn(&out, a.outside)
	return out
}

// repair does what an ordinal needs; a pod that is not available is waited for.
func (s *StatefulSet) repair(out *StatefulSetScale, ordinal int, p *cluster.Pod, createsUpdate func() bool) {
	switch {
	case p == nil:
		out.Create = append(out.Create, Created{ordinal, createsUpdate()})
	case p.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
	case finished(p):
		out.Remove = append(out.Remove, p)
	default:
		out.Why = fmt.Sprintf("pod %s is not available", p.Name)
	}
}

func finished(p *cluster.Pod) bool {
	return !p.Deleting && (p.Phase == corev1.PodFailed || p.Phase == corev1.PodSucceeded)
}

// condemn removes the pods whose ordinal should not exist, highest first; under
// OrderedReady one, and the pass ends.
func (s *StatefulSet) condemn(out *StatefulSetScale, outside []*cluster.Pod) {
	for _, p := range outside {
		if !p.Deleting {
			out.Remove = append(out.Remove, p)
		}
		if !s.parallel() {
			out.Stop = true
			if p.Deleting {
				out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
			}
			return
		}
	}
}

// createsUpdate answers for the i-th wanted ordinal whether its missing pod is
// made at the update revision: in order, when the partition's worth of ordinals
// is below it; unordered, when enough others in range are still old, those that
// the answers before have made so among them (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) createsUpdate(o *ordinals, slots []*cluster.Pod) func(i int) bool {
	partition := LimitsOfStatefulSet(s.Spec).Partition
	switch {
	case s.onDelete():
		return func(int) bool { return true }
	case s.unordered():
		old := len(o.old(slots))
		return func(int) bool {
			if old < partition {
				old++
				return false
			}
			return true
		}
	}
	return func(i int) bool { return i+1 > partition }
}

// StatefulSetUpdate is what the second half of a pass does.
type StatefulSetUpdate struct {
	// Delete are specified deletes that the budget lets go now.
	Delete []*cluster.Pod
	// Choice are the pods to update, in place or by deletion.
	Choice
}

// UpdateTargets returns the pods that should carry the update revision, in the
// order in which they are looked at; those that carry it already are among
// them. Ordered: the highest ordinals. Unordered: those that are updated or
// terminating first, the others by priority, cut to what the partition leaves
// (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) UpdateTargets() []*cluster.Pod {
	o, slots, most := s.ordinals(), s.inRange(), LimitsOfStatefulSet(s.Spec).MaxUpdate()
	if !s.unordered() {
		return fromTheTop(slots[lowestUpdated(slots, most):])
	}
	list := fromTheTop(slots)
	settled := func(p *cluster.Pod) bool { return p.Deleting || s.updated(p) }
	list = append(filter(list, settled), prioritize(filter(list, not(settled)), s.Spec.UpdateStrategy.RollingUpdate.UnorderedUpdate.PriorityStrategy)...)
	return list[:min(max(0, most-s.madeUpdated(o, slots)), len(list))]
}

// lowestUpdated is the lowest place among the update targets, in order. A missing pod has one of these places: a pass
// makes it before it looks for those to update.
func lowestUpdated(slots []*cluster.Pod, most int) int { return max(0, len(slots)-max(0, most)) }

// madeUpdated is how many missing pods take a place among the update targets of an unordered update: a pass
// makes them before it looks for those to update.
func (s *StatefulSet) madeUpdated(o *ordinals, slots []*cluster.Pod) int {
	if s.onDelete() {
		return 0
	}
	missing := len(slots) - present(slots)
	return max(0, missing-max(0, LimitsOfStatefulSet(s.Spec).Partition-len(o.old(slots))))
}

// ChooseUpdate decides which pods one pass deletes and updates, provided that
// [StatefulSet.Scale] did not stop it. Every unavailable pod in range uses the
// budget up, below the partition too, and the walk stops at the first pod that
// does not fit (docs/kruise/workloads.md#advanced-statefulset).
func (s *StatefulSet) ChooseUpdate() StatefulSetUpdate {
	out, outdated := s.choose()
	for p := range outdated {
		if !slices.Contains(out.Delete, p) {
			out.Order = append(out.Order, p)
		}
	}
	return out
}

// NextUpdate is [StatefulSet.ChooseUpdate] without the order of those that come later, which a
// controller does not ask for.
func (s *StatefulSet) NextUpdate() StatefulSetUpdate {
	out, _ := s.choose()
	return out
}

// choose returns the outdated pods as well, in the order of the update.
func (s *StatefulSet) choose() (out StatefulSetUpdate, outdated iter.Seq[*cluster.Pod]) {
	none := func(func(*cluster.Pod) bool) {}
	switch {
	case s.onDelete():
		out.Why = "update strategy OnDelete: pods are updated when they are deleted"
		return out, none
	case s.paused():
		out.Why = "paused"
		return out, none
	}
	o, slots := s.ordinals(), s.inRange()
	limits := LimitsOfStatefulSet(s.Spec)
	outdated = s.outdated(o, slots, limits.MaxUpdate())
	left := unavailableSet{budget: limits.MaxUnavailable, down: map[*cluster.Pod]bool{}}
	for _, i := range s.open(o, slots) {
		switch p := slots[i]; {
		case p == nil:
			left.missing++
		case s.Unavailable(p):
			left.down[p] = true
		}
	}
	marked := o.slotsWhere(slots, "marked", func(p *cluster.Pod) bool { return p != nil && SpecifiedDelete(p) })
	for p := range topDown(slots, marked) {
		if !p.Deleting && left.spend(p) {
			out.Delete = append(out.Delete, p)
		}
	}
	s.walk(&out, &left, outdated)
	return out, outdated
}

// outdated are the pods that are to be updated, in their order.
func (s *StatefulSet) outdated(o *ordinals, slots []*cluster.Pod, most int) iter.Seq[*cluster.Pod] {
	list := o.slotsWhere(slots, "outdated", o.isOutdated)
	if !s.unordered() {
		return topDown(slots, from(list, lowestUpdated(slots, most)))
	}
	// The targets begin with the pods that are updated or terminating: these are not listed, as
	// a pass would otherwise look at all of them.
	room := max(0, most-s.madeUpdated(o, slots)-(present(slots)-len(list)))
	strategy := s.Spec.UpdateStrategy.RollingUpdate.UnorderedUpdate.PriorityStrategy
	if strategy == nil {
		return topDown(slots, highest(list, room))
	}
	return func(yield func(*cluster.Pod) bool) {
		left := room
		for p := range o.byPriority(slots, strategy).all() {
			if left == 0 || !yield(p.pod) {
				return
			}
			left--
		}
	}
}

const allUpdated = "as many pods are updated as the partition asks for"

// unavailableSet is the set of unavailable pods, against what it may grow to. A pod
// that is missing, or made in this very pass, is not available either.
type unavailableSet struct {
	budget, missing int
	down            map[*cluster.Pod]bool
}

// spend takes a pod, unless the budget forbids it; one that is not available
// costs nothing more.
func (s *unavailableSet) spend(p *cluster.Pod) bool {
	if !s.down[p] && s.missing+len(s.down) >= s.budget {
		return false
	}
	s.down[p] = true
	return true
}

// walk takes outdated pods in their order, until the budget ends it.
func (s *StatefulSet) walk(out *StatefulSetUpdate, left *unavailableSet, outdated iter.Seq[*cluster.Pod]) {
	out.Why = allUpdated
	for p := range outdated {
		if slices.Contains(out.Delete, p) {
			continue
		}
		if !left.spend(p) {
			out.Why = fmt.Sprintf("%s not available, at most %d: %s waits", counted.PodsAre(left.missing+len(left.down)), left.budget, p.Name)
			return
		}
		out.Pods = append(out.Pods, p)
		out.Why = "these are all"
	}
}
