package rules

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestOrdinalSurvey_ChangesNothing: whatever happens to the pods, the list, the clock and the
// spec between two passes, a StatefulSet that remembers and one that does not see the same, whether
// or not there is a record of changes.
func TestOrdinalSurvey_ChangesNothing(t *testing.T) {
	specs := []string{
		"replicas: 9\nupdateStrategy: {rollingUpdate: {maxUnavailable: 3}}",
		"replicas: 9\npodManagementPolicy: Parallel",
		"replicas: 9\npodManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 3, partition: 4, minReadySeconds: 60}}",
		"replicas: 7\npodManagementPolicy: Parallel\nreserveOrdinals: [2]\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2, partition: 3, unorderedUpdate: {}}}",
		"replicas: 9\npodManagementPolicy: Parallel\nupdateStrategy: {rollingUpdate: {maxUnavailable: 3, partition: 2, unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: rank}]}}}}",
		"replicas: 70\npodManagementPolicy: Parallel\nscaleStrategy: {maxUnavailable: 5}",
	}
	for seed := range 600 {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		set := statefulSet(t, specs[0], "0o 1o 2o 3o 4o 5o 6o 7o 8o")
		busy := map[string]bool{}
		set.Busy = func(p *cluster.Pod) bool { return !isStill(p) && busy[p.UID] }
		if seed%2 == 0 {
			set.PodChanges = &cluster.PodChanges{}
		}
		var survey, native OrdinalSurvey
		for pass := range 25 {
			if rng.IntN(6) == 0 {
				set.Spec = statefulSet(t, specs[rng.IntN(len(specs))], "").Spec
			}
			if rng.IntN(10) == 0 {
				set.Update, set.Current = set.Current, set.Update
			}
			set.Now = set.Now.Add(time.Duration(rng.IntN(40)-5) * time.Second)
			for range rng.IntN(3) {
				disturbOrdinal(t, rng, set)
				busy["web-"+itoa(rng.IntN(12))] = rng.IntN(2) == 0
			}
			fresh := *set
			fresh.survey, fresh.PodChanges = nil, nil
			set.Remember(&survey)
			if diff := cmp.Diff(ordinalAnswers(&fresh), ordinalAnswers(set)); diff != "" {
				t.Fatalf("seed %d, pass %d (-without, +with a survey):\n%s", seed, pass, diff)
			}
			targets := filter(set.UpdateTargets(), func(p *cluster.Pod) bool { return !set.updated(p) && !p.Deleting })
			if got := slices.Collect(set.outdated(set.surveyed(), LimitsOfStatefulSet(set.Spec).MaxUpdate())); names(got) != names(targets) {
				t.Fatalf("seed %d, pass %d: outdated are %q, want %q", seed, pass, names(got), names(targets))
			}
			if diff := cmp.Diff(countAll(set), survey.Counts()); diff != "" {
				t.Fatalf("seed %d, pass %d (-counted, +remembered):\n%s", seed, pass, diff)
			}
			restless := filter(set.Pods, not(isStill))
			if got := slices.Collect(survey.Restless()); names(got) != names(restless) {
				t.Fatalf("seed %d, pass %d: restless are %q, want %q", seed, pass, names(got), names(restless))
			}
			without, with := nativeOf(set), nativeOf(set)
			with.PodChanges = set.PodChanges
			with.Remember(&native, set.Current)
			if diff := cmp.Diff(nativeAnswers(without), nativeAnswers(with)); diff != "" {
				t.Fatalf("seed %d, pass %d, native (-without, +with a survey):\n%s", seed, pass, diff)
			}
		}
	}
}

// countAll counts the pods one by one.
func countAll(s *StatefulSet) OrdinalCounts {
	var n OrdinalCounts
	for _, p := range s.Pods {
		q := s.question()
		n.add(ordinalCountsOf(p, &q, s.Now), 1)
	}
	return n
}

func nativeOf(s *StatefulSet) *NativeStatefulSet {
	spec := &appsv1.StatefulSetSpec{Replicas: s.Spec.Replicas, PodManagementPolicy: s.Spec.PodManagementPolicy}
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: r.Partition, MaxUnavailable: r.MaxUnavailable}
		if r.MinReadySeconds != nil {
			spec.MinReadySeconds = *r.MinReadySeconds
		}
	}
	return &NativeStatefulSet{Spec: spec, Update: s.Update, Pods: s.Pods, Now: s.Now, MaxUnavailable: true}
}

func ordinalAnswers(s *StatefulSet) []any {
	scale, update, next := s.Scale(), s.ChooseUpdate(), s.NextUpdate()
	return []any{
		scale.Create, names(scale.Remove), scale.Stop, scale.Until, scale.Why,
		names(update.Delete), names(update.Pods), names(update.Order), update.Why, names(next.Pods), next.Why,
	}
}

func nativeAnswers(s *NativeStatefulSet) []any {
	scale, update, next := s.Scale(), s.ChooseUpdate(), s.NextUpdate()
	return []any{
		scale.Create, names(scale.Remove), scale.Stop, scale.Why,
		names(update.Pods), names(update.Order), update.Why, names(next.Pods), next.Why,
	}
}

// disturbOrdinal replaces, adds or removes a pod, as the store of a simulator does.
func disturbOrdinal(t *testing.T, rng *rand.Rand, s *StatefulSet) {
	t.Helper()
	words := []string{"o", "n", "o!", "n!", "o-", "n=", "o^", "n~"}
	p := flagged(t, "web-"+itoa(rng.IntN(12)), words[rng.IntN(len(words))])
	p.Conditions[0].Since = s.Now.Add(-time.Duration(rng.IntN(120)) * time.Second)
	if rng.IntN(4) == 0 {
		p.Annotations = map[string]string{kruise.InPlaceUpdateStateAnnotation: "{}"}
	}
	if rng.IntN(2) == 0 {
		p.Labels["rank"] = itoa(rng.IntN(4))
	}
	if rng.IntN(4) == 0 {
		p.ReadinessGates = []string{kruise.InPlaceUpdateReady}
	}
	at := slices.IndexFunc(s.Pods, func(o *cluster.Pod) bool { return o.Name == p.Name })
	last := len(s.Pods) - 1
	switch {
	case at < 0:
		at = len(s.Pods)
		s.Pods = append(s.Pods, p)
	case rng.IntN(4) == 0 && last > 0:
		s.Pods[at] = s.Pods[last]
		s.Pods = s.Pods[:last]
	default:
		s.Pods[at] = p
	}
	if s.PodChanges != nil {
		s.PodChanges.Add(at, len(s.Pods))
	}
}

func TestOrdinalSurvey_LastOfTwoPodsWithOneOrdinalCounts(t *testing.T) {
	s := statefulSet(t, "replicas: 2\npodManagementPolicy: Parallel", "0o 1o 01n")
	var survey OrdinalSurvey
	for range 2 {
		s.Remember(&survey)
		if got := names(slices.Collect(s.survey.descending(s.survey.present))); got != "web-01 web-0" {
			t.Errorf("slots hold %s", got)
		}
		s.Pods = slices.Clone(s.Pods)
	}
	s.Pods = s.Pods[:2]
	s.Remember(&survey)
	if got := names(slices.Collect(s.survey.descending(s.survey.present))); got != "web-1 web-0" {
		t.Errorf("after one has gone, slots hold %s", got)
	}
}

func TestNumberSet(t *testing.T) {
	set := newNumberSet(130)
	for _, i := range []int{0, 63, 64, 127, 129} {
		set.set(i, true)
	}
	set.set(127, false)
	if got := slices.Collect(set.all()); !slices.Equal(got, []int{0, 63, 64, 129}) {
		t.Errorf("all: %v", got)
	}
	if got := slices.Collect(set.backward()); !slices.Equal(got, []int{129, 64, 63, 0}) {
		t.Errorf("backward: %v", got)
	}
	for n, want := range [][]int{nil, {129}, {64, 129}, {63, 64, 129}, {0, 63, 64, 129}, {0, 63, 64, 129}} {
		if got := slices.Collect(set.highest(n).all()); !slices.Equal(got, want) {
			t.Errorf("the %d highest: %v", n, got)
		}
	}
	for limit, want := range map[int]int{-1: 4, 0: 4, 1: 3, 63: 3, 64: 2, 65: 1, 129: 1, 130: 0, 500: 0} {
		if got := set.from(limit).count(); got != want {
			t.Errorf("%d numbers from %d on, want %d", got, limit, want)
		}
	}
}

func TestOrdinalQuestion_EqualComparesReservedOrdinals(t *testing.T) {
	a := ordinalQuestion{reserved: []intstr.IntOrString{intstr.FromInt32(1)}}
	b := ordinalQuestion{reserved: []intstr.IntOrString{intstr.FromInt32(2)}}
	if a.equal(&b) || !a.equal(&a) {
		t.Error("reserved ordinals are not compared")
	}
}
