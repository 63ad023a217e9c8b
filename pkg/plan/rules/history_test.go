package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// history is a CloneSet that only the rules change, pass by pass, with pods that become ready at
// random moments, and now and then break.
type history struct {
	*testing.T
	rng     *rand.Rand
	set     *CloneSet
	inPlace bool
	made    int
	log     []string
}

// TestCloneSet_Histories: for random specs, starts and moments, no pass takes
// more than the budget allows or updates more than promised, and every history
// comes to the end that the partition asks for.
func TestCloneSet_Histories(t *testing.T) {
	for seed := range 5000 {
		h := newHistory(t, uint64(seed))
		if !h.run() {
			t.Fatalf("seed %d: %+v never ends:\n%s", seed, LimitsOfCloneSet(h.set.Spec), tail(h.log))
		}
		h.atEnd(seed)
	}
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{T: t, rng: rand.New(rand.NewPCG(seed, 1)), inPlace: seed%2 == 0}
	replicas := int32(h.rng.IntN(8))
	h.set = &CloneSet{Spec: &kruise.CloneSetSpec{Replicas: &replicas}, Current: "web-o", Update: "web-n", Now: now}
	surge, down := h.rng.IntN(3), h.rng.IntN(4)
	if h.inPlace && seed%4 == 0 {
		surge = 0
	}
	if surge+down == 0 {
		down = 1
	}
	h.set.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{
		Partition: h.partition(), MaxUnavailable: number32(down), MaxSurge: number32(surge),
	}
	if h.rng.IntN(3) == 0 {
		h.set.Spec.ScaleStrategy.MaxUnavailable = number32(1 + h.rng.IntN(3))
	}
	for range h.rng.IntN(10) {
		h.create([]string{"o", "o", "n"}[h.rng.IntN(3)], h.rng.IntN(4) > 0)
	}
	return h
}

func number32(n int) *intstr.IntOrString {
	v := intstr.FromInt32(int32(n))
	return &v
}

func (h *history) partition() *intstr.IntOrString {
	if h.rng.IntN(2) == 0 {
		return number32(h.rng.IntN(9))
	}
	v := intstr.FromString(itoa(h.rng.IntN(101)) + "%")
	return &v
}

func (h *history) create(revision string, ready bool) {
	h.made++
	p := pod(fmt.Sprintf("p%02d", h.made), revision)
	setReady(p, ready, h.set.Now)
	p.Created = h.set.Now
	h.set.Pods = append(h.set.Pods, p)
}

// run goes pass by pass until nothing happens and every pod is ready.
func (h *history) run() bool {
	for pass := range 400 {
		h.set.Now = now.Add(time.Duration(pass) * time.Second)
		acted := h.pass()
		woke := h.wake(pass)
		if !acted && !woke && count(h.set.active(), not(Ready)) == 0 {
			return true
		}
	}
	return false
}

// pass applies the rules and checks each action against the limits.
func (h *history) pass() bool {
	scale := h.set.Scale()
	if scale.Acts() {
		h.scale(scale)
		return true
	}
	choice := h.set.ChooseUpdate()
	h.holdChoice(choice)
	for _, p := range choice.Pods {
		h.log = append(h.log, "update "+p.Name)
		if h.inPlace {
			p.Labels[cluster.RevisionLabel] = h.set.Update
			setReady(p, false, h.set.Now)
		} else {
			p.Labels[kruise.SpecifiedDeleteLabel] = "true"
		}
	}
	return len(choice.Pods) > 0
}

func (h *history) scale(s CloneSetScale) {
	h.log = append(h.log, fmt.Sprintf("create %d+%d, delete %s", s.CreateOld, s.CreateNew, names(s.Delete)))
	l := LimitsOfCloneSet(h.set.Spec)
	available := count(h.set.active(), h.set.available)
	gone := count(s.Delete, h.set.available)
	// A marked pod that is broken goes for free and is in no count: Kruise can
	// exceed its budget by as many.
	free := count(h.set.active(), func(p *cluster.Pod) bool { return SpecifiedDelete(p) && !h.set.available(p) })
	if gone > 0 && available-gone < l.Replicas-l.MaxUnavailable-free {
		h.Fatalf("%+v: deletes %s: %d of %d are left available\n%s", l, names(s.Delete), available-gone, l.Replicas, tail(h.log))
	}
	for range s.CreateOld {
		h.create("o", false)
	}
	for range s.CreateNew {
		h.create("n", false)
	}
	if total := len(h.set.active()); s.CreateOld+s.CreateNew > 0 && total > l.Replicas+l.MaxSurge {
		h.Fatalf("%+v: %d pods\n%s", l, total, tail(h.log))
	}
	h.set.Pods = slices.DeleteFunc(h.set.Pods, func(p *cluster.Pod) bool { return slices.Contains(s.Delete, p) })
}

// holdChoice: after the update the unavailable are within the budget, unless
// they were beyond it before, and no more are updated than promised.
func (h *history) holdChoice(c Choice) {
	l := LimitsOfCloneSet(h.set.Spec)
	active := h.set.active()
	budget := l.MaxUnavailable + len(active) - l.Replicas
	down := count(active, not(h.set.available))
	fresh := count(c.Pods, h.set.available)
	if fresh > 0 && down+fresh > budget {
		h.Fatalf("%+v: %s would make %d unavailable, budget %d\n%s", l, names(c.Pods), down+fresh, budget, tail(h.log))
	}
	if updated := count(active, h.set.updated); len(c.Pods) > 0 && updated+len(c.Pods) > max(l.MaxUpdate(), updated) {
		h.Fatalf("%+v: %d are updated, takes %s\n%s", l, updated, names(c.Pods), tail(h.log))
	}
}

// wake makes some pods ready, and in the first half of the time breaks one now
// and then; a pod that stays broken could stop the rollout for good.
func (h *history) wake(pass int) bool {
	woke := false
	for _, p := range h.set.active() {
		switch {
		case !Ready(p) && (h.rng.IntN(2) == 0 || pass > 100):
			setReady(p, true, h.set.Now)
			woke = true
		case Ready(p) && pass < 50 && h.rng.IntN(40) == 0:
			setReady(p, false, h.set.Now)
			h.log = append(h.log, p.Name+" breaks")
			woke = true
		}
	}
	return woke
}

// atEnd: as many pods as wanted, all available, and as many updated as promised
// or more, when there were more from the start.
func (h *history) atEnd(seed int) {
	l := LimitsOfCloneSet(h.set.Spec)
	active := h.set.active()
	updated := count(active, h.set.updated)
	if len(active) != l.Replicas || updated < l.MaxUpdate() {
		h.Fatalf("seed %d: %+v ends with %d pods, %d updated\n%s", seed, l, len(active), updated, tail(h.log))
	}
	if marked := count(active, SpecifiedDelete); marked > 0 {
		h.Fatalf("seed %d: %d marked pods are left\n%s", seed, marked, tail(h.log))
	}
	for _, p := range active {
		if p.Phase != corev1.PodRunning || !Ready(p) {
			h.Fatalf("seed %d: %s is not ready\n%s", seed, p.Name, tail(h.log))
		}
	}
}

func tail(log []string) string {
	return fmt.Sprint(log[max(0, len(log)-30):])
}

// historyStatefulSet is [history] for an Advanced StatefulSet.
type historyStatefulSet struct {
	*testing.T
	rng     *rand.Rand
	set     *StatefulSet
	inPlace bool
}

// TestStatefulSet_Histories: for random specs and starts, no pass takes more than
// the budget allows, and every history ends with the right ordinals, the right
// number of them updated.
func TestStatefulSet_Histories(t *testing.T) {
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
