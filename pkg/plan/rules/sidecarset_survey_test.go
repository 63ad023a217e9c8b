package rules

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestSidecarSurvey_ChangesNothing: whatever happens to the pods, the list, the namespaces and the
// sets between two passes, SidecarSets that remember and those that do not see the same, which is
// what looking at the pods one by one gives, whether or not there is a record of changes.
func TestSidecarSurvey_ChangesNothing(t *testing.T) {
	seen := map[string]int{}
	for seed := range 150 {
		rng := rand.New(rand.NewPCG(uint64(seed), 13))
		sets := []*SidecarSet{sidecarSet(t, sidecarSpecs[seed%2*(len(sidecarSpecs)-1)], "6*o"), {Name: "a", Spec: &kruise.SidecarSetSpec{}, Hash: "z"}}
		decode(t, meshSpec, sets[1].Spec)
		var record *cluster.PodChanges
		if seed/2%2 == 0 {
			record = &cluster.PodChanges{}
		}
		surveys := make([]SidecarSurvey, len(sets))
		pods := sets[0].Pods
		for pass := range 25 {
			for i, set := range sets {
				disturbSet(t, rng, set)
				pods = disturbSidecars(t, rng, sets[0], pods, record)
				set.Pods, set.PodChanges, set.Survey = pods, record, &surveys[i]
				fresh := *set
				fresh.PodChanges, fresh.Survey = nil, nil
				want, got := sidecarAnswers(&fresh), sidecarAnswers(set)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, pass %d, set %s (-without, +with a survey):\n%s", seed, pass, set.Name, diff)
				}
				if diff := cmp.Diff(oneByOne(&fresh), want); diff != "" {
					t.Fatalf("seed %d, pass %d, set %s (-one by one, +by a survey):\n%s", seed, pass, set.Name, diff)
				}
				want.note(seen)
			}
		}
	}
	for _, what := range []string{"pods", "order", "flip", "refuse", "left out", "down"} {
		if seen[what] < 100 {
			t.Errorf("only %d times there was something of %q", seen[what], what)
		}
	}
}

// sidecarSpecs are what a set may become; the last one is a hot upgrade.
var sidecarSpecs = []string{
	meshSpec,
	meshSpec + "updateStrategy: {maxUnavailable: 30%, partition: 30%}",
	meshSpec + "updateStrategy: {maxUnavailable: 2, selector: {matchLabels: {rank: '1'}}}",
	meshSpec + "updateStrategy: {maxUnavailable: 5, scatterStrategy: [{key: rank, value: '*'}]}",
	meshSpec + "updateStrategy: {maxUnavailable: 2, priorityStrategy: {orderPriority: [{orderedKey: rank}]}}",
	meshSpec + "updateStrategy: {maxUnavailable: 3, priorityStrategy: {weightPriority: [{weight: 5, matchSelector: {matchLabels: {rank: '2'}}}]}, scatterStrategy: [{key: rank, value: '1'}]}",
	meshSpec + "updateStrategy: {paused: true}",
	meshSpec + "updateStrategy: {type: NotUpdate}",
	meshSpec + "namespaceSelector: {matchLabels: {team: a}}",
	meshSpec + "injectionStrategy: {revision: {revisionName: side-o}}",
	"selector: {matchExpressions: [{key: app, operator: Exists}]}\ncontainers: [{name: mesh, image: \"mesh:2\"}, {name: main, image: \"web:1\"}]",
	hotSpec + "updateStrategy: {maxUnavailable: 50%}",
	hotSpec,
}

// disturbSet changes a set now and then: its spec, its hashes, or the labels of a namespace.
func disturbSet(t *testing.T, rng *rand.Rand, s *SidecarSet) {
	t.Helper()
	if rng.IntN(8) == 0 {
		s.Spec = sidecarSet(t, sidecarSpecs[rng.IntN(len(sidecarSpecs))], "").Spec
	}
	if rng.IntN(12) == 0 {
		s.Hash = []string{"n", "o", "z", "new"}[rng.IntN(4)]
	}
	if rng.IntN(12) == 0 {
		s.HashWithoutImage = []string{"w", "other"}[rng.IntN(2)]
	}
	if rng.IntN(8) == 0 {
		s.Namespaces = map[string]map[string]string{"default": {"team": "a"}, "shop": {"team": string("ab"[rng.IntN(2)])}}
	}
	s.RoundsDown = rng.IntN(6) == 0
}

// disturbSidecars replaces, adds or removes some pods, as the store of a simulator does.
func disturbSidecars(t *testing.T, rng *rand.Rand, s *SidecarSet, pods []*cluster.Pod, record *cluster.PodChanges) []*cluster.Pod {
	t.Helper()
	disturbances := rng.IntN(4)
	if rng.IntN(10) == 0 {
		disturbances = 80
	}
	for range disturbances {
		p := sidecarPod(t, rng, s)
		at, last := slices.IndexFunc(pods, func(o *cluster.Pod) bool { return o.Name == p.Name }), len(pods)-1
		switch {
		case at < 0:
			at, pods = len(pods), append(pods, p)
		case rng.IntN(5) == 0 && last > 0:
			pods[at] = pods[last]
			pods = pods[:last]
		default:
			pods[at] = p
		}
		if record != nil {
			record.Add(at, len(pods))
		}
	}
	return pods
}

// sidecarPod makes a pod that has the sidecars in some state, or lacks them.
func sidecarPod(t *testing.T, rng *rand.Rand, s *SidecarSet) *cluster.Pod {
	t.Helper()
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	p := sidecarSet(t, meshSpec, pick("o", "o", "n", "x", "o!", "n!", "o^")).Pods[0]
	p.Name = "p" + itoa(rng.IntN(14))
	p.UID = p.Name
	p.Labels["rank"] = pick("1", "2", "3")
	p.Namespace = pick("", "", "shop")
	p.Conditions[0].Since = t0.Add(time.Duration(rng.IntN(9)) * time.Second)
	if rng.IntN(3) == 0 {
		heat(p, pick("mesh:1", "mesh:2", "empty"), pick("empty", "empty", "mesh:2"), pick("mesh-1", "mesh-2"))
	}
	c := &p.Containers[len(p.Containers)-1]
	switch rng.IntN(12) {
	case 0:
		p.Labels["app"] = "db"
	case 1:
		p.Annotations[kruise.SidecarSetInjectedListAnnotation] = pick("a", "side", "")
	case 2:
		c.StatusImage = "mesh:0"
	case 3:
		c.Ready = false
	case 4:
		p.Annotations[kruise.SidecarSetHashAnnotation] = `{"a":{"hash":"o"}}`
	case 5:
		p.Node, p.Phase = "", corev1.PodPending
	}
	if rng.IntN(4) == 0 {
		refused, _ := s.UpgradableCondition(p, rng.IntN(2) == 0)
		p.Conditions = append(p.Conditions, refused)
	}
	return p
}

// sidecarAnswer is all that the rules of a SidecarSet tell.
type sidecarAnswer struct {
	Counts                              kruise.SidecarSetStatus
	NotUpgradable, LeftOut              int
	Flip, Refuse, Pods, Order, Queue    string
	BriefPods, BriefFlip, BriefRefusals string
	Why                                 string
	Pending                             Pending
}

func (a *sidecarAnswer) note(seen map[string]int) {
	for what, there := range map[string]bool{
		"pods": a.Pods != "", "order": a.Order != "", "flip": a.Flip != "", "refuse": a.Refuse != "", "left out": a.LeftOut > 0,
		"down": a.Counts.UpdatedReadyPods < a.Counts.UpdatedPods,
	} {
		if there {
			seen[what]++
		}
	}
}

func sidecarAnswers(s *SidecarSet) sidecarAnswer {
	counts, u := s.Round()
	set := &kruise.SidecarSet{Spec: *s.Spec, Status: kruise.SidecarSetStatus{MatchedPods: counts.MatchedPods}}
	brief := *s
	brief.Brief = true
	b := brief.ChooseUpdate()
	return sidecarAnswer{
		Counts: counts, NotUpgradable: u.NotUpgradable, LeftOut: s.LeftOut(), Flip: names(u.Flip), Refuse: names(u.Refuse),
		Pods: names(u.Pods), Order: names(u.Order), Queue: names(s.Queue().Take(3)), Why: u.Why, Pending: s.Pending(set),
		BriefPods: names(b.Pods), BriefFlip: names(b.Flip), BriefRefusals: names(b.Refuse),
	}
}

// oneByOne is the answer that looking at all pods for each question gives.
func oneByOne(s *SidecarSet) sidecarAnswer {
	matched := s.Matched()
	old := filter(matched, not(s.Updated))
	a := sidecarAnswer{Counts: kruise.SidecarSetStatus{
		MatchedPods: int32(len(matched)), UpdatedPods: int32(len(matched) - len(old)), ReadyPods: int32(count(matched, s.healthy)),
		UpdatedReadyPods: int32(count(matched, func(p *cluster.Pod) bool { return s.Updated(p) && s.healthy(p) })),
	}}
	left := filter(old, not(s.Upgradable))
	a.NotUpgradable = len(left)
	a.Refuse = names(filter(left, func(p *cluster.Pod) bool { _, other := s.UpgradableCondition(p, false); return other }))
	a.LeftOut = count(old, not(s.Chooses))
	chosen := s.chosen()
	wait := prioritize(inOrder(filter(old, func(p *cluster.Pod) bool {
		return chosen.Matches(labels.Set(p.Labels)) && s.Upgradable(p) && !s.InFlight(p)
	})), s.Spec.UpdateStrategy.PriorityStrategy)
	wait = scatter(wait, matched, everyValue(s.Spec.UpdateStrategy.ScatterStrategy, matched))
	a.Queue = names(wait[:min(3, len(wait))])
	strategy := s.Spec.UpdateStrategy
	active := strategy.Type != kruise.NotUpdateSidecarSetStrategyType && !strategy.Paused
	if active {
		a.Flip = names(filter(matched, s.FlipReady))
	}
	if active && a.Flip == "" {
		order := wait[:max(len(wait)-s.kept(len(matched)), 0)]
		left := s.MaxUnavailable(len(matched)) - int(a.Counts.UpdatedPods-a.Counts.UpdatedReadyPods)
		end := slices.IndexFunc(order, func(p *cluster.Pod) bool { left -= int(one(s.Ready(p))); return s.Ready(p) && left < 0 })
		if end < 0 {
			end = len(order)
		}
		a.Order, a.Pods = names(order), names(order[:end])
	}
	a.BriefPods, a.BriefFlip, a.BriefRefusals = a.Pods, a.Flip, a.Refuse
	set := &kruise.SidecarSet{Spec: *s.Spec, Status: kruise.SidecarSetStatus{MatchedPods: a.Counts.MatchedPods}}
	fresh := *s
	a.Why, a.Pending = fresh.ChooseUpdate().Why, fresh.Pending(set)
	return a
}
