package rules

import (
	"fmt"
	"iter"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// NativeStatefulSet is a StatefulSet of Kubernetes with all that its rules look
// at. Its partition is a floor: ordinals from it upwards are updated.
type NativeStatefulSet struct {
	Spec            *appsv1.StatefulSetSpec
	Current, Update string
	Pods            []*cluster.Pod
	Now             time.Time
	// MaxUnavailable is the gate MaxUnavailableStatefulSet; without it one pod
	// at a time is updated.
	MaxUnavailable bool
	// Answers is what is remembered of Pods, nil for nothing; each answer is the same without it.
	Answers *cluster.Answers
	// Arranged is what Arrange returns for the same pods, nil to arrange them for each question.
	Arranged *Arranged
}

// Arrange puts the pods in their places.
func (s *NativeStatefulSet) Arrange() *Arranged { return s.ordinals().arrange(s.Ordinals()) }

func (s *NativeStatefulSet) arranged() *Arranged {
	if s.Arranged != nil {
		return s.Arranged
	}
	return s.Arrange()
}

func (s *NativeStatefulSet) ordinals() *ordinals {
	return &ordinals{
		pods: s.Pods, current: s.Current, update: s.Update, minReady: seconds(s.Spec.MinReadySeconds), now: s.Now, answers: s.Answers,
	}
}

// Counts are the numbers of the status.
func (s *NativeStatefulSet) Counts() OrdinalCounts { return s.ordinals().counts() }

// Unsettled are the pods that have not been ready for long enough, or in which something may be in
// progress, in the order of the list.
func (s *NativeStatefulSet) Unsettled() []*cluster.Pod { return s.ordinals().unsettled() }

// Ordinals returns the ordinals that should exist.
func (s *NativeStatefulSet) Ordinals() []int {
	return Ordinals(s.start(), number(s.Spec.Replicas, 1), nil)
}

// Descending returns the pods that should exist in the order in which a falling
// partition reaches them, whatever it is now.
func (s *NativeStatefulSet) Descending() []*cluster.Pod {
	return fromTheTop(s.arranged().slots)
}

func (s *NativeStatefulSet) start() int {
	if s.Spec.Ordinals == nil {
		return 0
	}
	return int(s.Spec.Ordinals.Start)
}

func (s *NativeStatefulSet) partition() int {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return number(r.Partition, 0)
	}
	return 0
}

// Budget is how many pods may be down by the update: a percentage is rounded
// down, and at least one may be (seen on 1.36 and 1.37, test/e2e/accept).
func (s *NativeStatefulSet) Budget() int {
	r := s.Spec.UpdateStrategy.RollingUpdate
	if !s.MaxUnavailable || r == nil || r.MaxUnavailable == nil {
		return 1
	}
	return atLeastOne(r.MaxUnavailable, number(s.Spec.Replicas, 1))
}

// CreatesUpdate reports whether a missing ordinal is made at the update
// revision.
func (s *NativeStatefulSet) CreatesUpdate(ordinal int) bool {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return true
	}
	return ordinal >= s.start()+s.partition()
}

// ChooseUpdate decides which pods are deleted for the update: outdated ones at
// or above the partition, from the highest ordinal, within the budget. Under
// OrderedReady nothing is updated while a pod in range is missing or not
// available; a broken pod is replaced only when its turn comes.
func (s *NativeStatefulSet) ChooseUpdate() Choice {
	out, outdated := s.choose()
	out.Order = slices.Collect(outdated)
	return out
}

// NextUpdate is [NativeStatefulSet.ChooseUpdate] without the order of those that come later,
// which a controller does not ask for.
func (s *NativeStatefulSet) NextUpdate() Choice {
	out, _ := s.choose()
	return out
}

// choose returns the outdated pods as well, in the order of the update.
func (s *NativeStatefulSet) choose() (out Choice, outdated iter.Seq[*cluster.Pod]) {
	none := func(func(*cluster.Pod) bool) {}
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		out.Why = "update strategy OnDelete: pods are updated when they are deleted"
		return out, none
	}
	o, slots := s.ordinals(), s.arranged().slots
	if !s.parallel() {
		if why := s.waitsFor(o, slots); why != "" {
			out.Why = why
			return out, none
		}
	}
	places := from(o.slotsWhere(slots, "outdated", o.isOutdated), s.partition())
	s.walk(&out, o, slots, places)
	return out, topDown(slots, places)
}

// waitsFor names the pod that OrderedReady waits for.
func (s *NativeStatefulSet) waitsFor(o *ordinals, slots []*cluster.Pod) string {
	for _, i := range o.open(slots) {
		switch p := slots[i]; {
		case p == nil:
			return "pods are missing"
		case s.down(p):
			return fmt.Sprintf("pod %s is not available", p.Name)
		}
	}
	return ""
}

// walk goes from the highest ordinal down to the partition. A pod that is missing
// counts as one that is not available.
func (s *NativeStatefulSet) walk(out *Choice, o *ordinals, slots []*cluster.Pod, outdated []int) {
	down, budget := 0, s.Budget()
	of := o.slotsWhere(slots, "open or outdated", func(p *cluster.Pod) bool {
		return p == nil || !healthy(p) || !isStill(p) || !o.aged(p) || o.isOutdated(p)
	})
	for _, i := range slices.Backward(from(of, s.partition())) {
		p := slots[i]
		if down >= budget {
			break
		}
		switch {
		case o.isOutdated(p):
			out.Pods = append(out.Pods, p)
			down++
		case p == nil || s.down(p):
			down++
		}
	}
	out.Why = "these are all"
	if left := len(outdated) - len(out.Pods); left > 0 && down >= budget {
		next := slots[outdated[left-1]]
		out.Why = fmt.Sprintf("%s not available, at most %d: %s waits", counted.PodsAre(down), budget, next.Name)
	}
}

// Scale decides which pods a StatefulSet of Kubernetes creates and removes now.
// OrderedReady does one thing at a time from the lowest ordinal and, once all
// are available, removes the highest that is too many; Parallel does everything.
func (s *NativeStatefulSet) Scale() StatefulSetScale {
	var out StatefulSetScale
	a := s.arranged()
	for _, i := range s.ordinals().open(a.slots) {
		if s.repair(&out, a.want[i], a.slots[i]) && !s.parallel() {
			out.Stop = true
			return out
		}
	}
	s.condemn(&out, a.outside)
	return out
}

// repair does what an ordinal needs, and reports whether OrderedReady waits for
// it. A finished pod goes first and is recreated when it is gone.
func (s *NativeStatefulSet) repair(out *StatefulSetScale, ordinal int, p *cluster.Pod) bool {
	switch {
	case p == nil:
		out.Create = append(out.Create, Created{ordinal, s.CreatesUpdate(ordinal)})
		return true
	case finished(p):
		out.Remove = append(out.Remove, p)
		return true
	case p.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", p.Name)
		return true
	case s.down(p):
		out.Why = fmt.Sprintf("pod %s is not available", p.Name)
		return true
	}
	return false
}

// condemn removes pods out of range, highest first. OrderedReady takes one,
// and leaves a broken one alone while a lower one out of range is broken too.
func (s *NativeStatefulSet) condemn(out *StatefulSetScale, condemned []*cluster.Pod) {
	if s.parallel() {
		out.Remove = append(out.Remove, filter(condemned, func(p *cluster.Pod) bool { return !p.Deleting })...)
		return
	}
	if len(condemned) == 0 {
		return
	}
	out.Stop = true
	broken := filter(condemned, s.down)
	switch first := condemned[0]; {
	case first.Deleting:
		out.Why = fmt.Sprintf("pod %s is terminating", first.Name)
	case len(broken) > 0 && broken[len(broken)-1] != first && s.down(first):
		out.Why = fmt.Sprintf("pod %s is not available", broken[len(broken)-1].Name)
	default:
		out.Remove = append(out.Remove, first)
	}
}

func (s *NativeStatefulSet) parallel() bool {
	return s.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

// down reports whether a pod is not running and available, or is on its way out.
func (s *NativeStatefulSet) down(p *cluster.Pod) bool {
	return p.Deleting || p.Phase != corev1.PodRunning || !podReady(p) || !ReadyFor(p, seconds(s.Spec.MinReadySeconds), s.Now)
}
