package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// historyStatefulSet is [history] for an Advanced StatefulSet.
type historyStatefulSet struct {
	*testing.T
	rng     *rand.Rand
	set     *StatefulSet
	inPlace bool
}

// TestStatefulSetHistories: for random specs and starts, no pass takes more than
// the budget allows, and every history ends with the right ordinals, the right
// number of them updated.
func TestStatefulSetHistories(t *testing.T) {
	for seed := range 3000 {
		h := newHistoryStatefulSet(t, uint64(seed))
		if !h.run() {
			t.Fatalf("seed %d: never ends: %s", seed, names(h.set.Pods))
		}
		h.atEnd(seed)
	}
}

func newHistoryStatefulSet(t *testing.T, seed uint64) *historyStatefulSet {
	t.Helper()
	h := &historyStatefulSet{T: t, rng: rand.New(rand.NewPCG(seed, 2)), inPlace: seed%2 == 0}
	replicas, partition := int32(h.rng.IntN(7)), int32(h.rng.IntN(8))
	h.set = &StatefulSet{Spec: &kruise.StatefulSetSpec{Replicas: &replicas}, Current: "web-o", Update: "web-n", Now: now}
	rolling := &kruise.RollingUpdateStatefulSetStrategy{Partition: &partition}
	if h.rng.IntN(2) == 0 {
		h.set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		rolling.MaxUnavailable = number32(1 + h.rng.IntN(3))
		if h.rng.IntN(2) == 0 {
			rolling.UnorderedUpdate = &kruise.UnorderedUpdateStrategy{}
		}
	}
	h.set.Spec.UpdateStrategy.RollingUpdate = rolling
	for range h.rng.IntN(3) {
		h.set.Spec.ReserveOrdinals = append(h.set.Spec.ReserveOrdinals, intstr.FromInt32(int32(h.rng.IntN(5))))
	}
	for i := range h.rng.IntN(9) {
		h.create(i, "o", h.rng.IntN(5) > 0)
	}
	return h
}

func (h *historyStatefulSet) create(ordinal int, revision string, ready bool) {
	p := pod("web-"+itoa(ordinal), revision)
	setReady(p, ready, h.set.Now)
	h.set.Pods = append(h.set.Pods, p)
}

func (h *historyStatefulSet) run() bool {
	for range 300 {
		h.set.Now = h.set.Now.Add(time.Second)
		if !h.pass() && !h.wake() {
			return true
		}
	}
	return false
}

func (h *historyStatefulSet) pass() bool {
	scale := h.set.Scale()
	for _, made := range scale.Create {
		h.create(made.Ordinal, map[bool]string{true: "n", false: "o"}[made.Update], false)
	}
	h.remove(scale.Remove)
	if acted := len(scale.Create)+len(scale.Remove) > 0; acted || scale.Stop {
		return acted
	}
	update := h.set.ChooseUpdate()
	h.hold(update)
	if h.inPlace {
		for _, p := range update.Pods {
			p.Labels[cluster.RevisionLabel] = h.set.Update
			setReady(p, false, h.set.Now)
		}
	} else {
		h.remove(update.Pods)
	}
	return len(update.Pods) > 0
}

func (h *historyStatefulSet) remove(list []*cluster.Pod) {
	h.set.Pods = slices.DeleteFunc(h.set.Pods, func(p *cluster.Pod) bool { return slices.Contains(list, p) })
}

// hold: the unavailable stay within the budget, unless they were beyond it.
func (h *historyStatefulSet) hold(u StatefulSetUpdate) {
	l := LimitsOfStatefulSet(h.set.Spec)
	down := count(h.set.Pods, h.set.Unavailable)
	fresh := count(u.Pods, not(h.set.Unavailable))
	if fresh > 0 && down+fresh > l.MaxUnavailable {
		h.Fatalf("%+v: %d down, takes %s", l, down, names(u.Pods))
	}
	if count(h.set.Pods, h.set.updated)+len(u.Pods) > l.MaxUpdate() {
		h.Fatalf("%+v: takes %s, more than promised", l, names(u.Pods))
	}
}

func (h *historyStatefulSet) wake() bool {
	waiting := filter(h.set.Pods, not(Ready))
	for i, p := range waiting {
		if i == 0 || h.rng.IntN(2) == 0 {
			setReady(p, true, h.set.Now)
		}
	}
	return len(waiting) > 0
}

func (h *historyStatefulSet) atEnd(seed int) {
	var want, got []int
	want = h.set.Ordinals()
	for _, p := range h.set.Pods {
		got = append(got, OrdinalOf(p))
	}
	slices.Sort(got)
	if !slices.Equal(want, got) {
		h.Fatalf("seed %d: ordinals %v, want %v", seed, got, want)
	}
	l := LimitsOfStatefulSet(h.set.Spec)
	if updated := count(h.set.Pods, h.set.updated); updated != l.MaxUpdate() {
		h.Fatalf("seed %d: %+v ends with %d updated: %s", seed, l, updated, fmt.Sprint(names(h.set.Pods)))
	}
}
