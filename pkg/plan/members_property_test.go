package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// story is a group that is carried out by chance.
type story struct {
	*rand.Rand
	whole  plan.Rollout
	status []plan.MemberStatus
	// failed were the failures before each member started.
	failed map[int]int
}

// newStory makes a group of which some fail, by a seed.
func newStory(seed uint64) *story {
	s := &story{Rand: rand.New(rand.NewPCG(seed, 1)), failed: map[int]int{}}
	n := 1 + s.IntN(12)
	for i := range n {
		m := member(fmt.Sprint("m", i), s.IntN(4))
		m.Plan.Limits.MaxUnavailable = s.IntN(4)
		for j, other := range s.whole.Members {
			if other.Wave <= m.Wave && s.IntN(8) == 0 {
				m.DependsOn = append(m.DependsOn, s.whole.Members[j].Ref)
			}
		}
		s.whole.Members = append(s.whole.Members, m)
	}
	s.whole.Bounds = plan.Bounds{Parallel: s.IntN(4), MaxFailures: s.IntN(3)}
	if s.IntN(2) == 0 {
		s.whole.Bounds.MaxUnavailable = 3 + s.IntN(5)
	}
	for range s.IntN(3) {
		b := plan.SharedBudget{Name: "budget", Allowed: s.IntN(4), Takes: map[int]int{}}
		for i, m := range s.whole.Members {
			if s.IntN(3) == 0 {
				b.Takes[i] = m.Plan.Limits.MaxUnavailable
			}
		}
		s.whole.Budgets = append(s.whole.Budgets, b)
	}
	s.status = make([]plan.MemberStatus, n)
	for i := range s.status {
		s.status[i].Phase = plan.PhasePending
	}
	return s
}

func (s *story) of(p ...plan.Phase) (out []int) {
	for i := range s.status {
		if slices.Contains(p, s.status[i].Phase) {
			out = append(out, i)
		}
	}
	return out
}

// goOn has one member in progress come further. Its pods are as many as it may take.
func (s *story) goOn(i int) {
	one := &s.status[i]
	switch s.IntN(6) {
	case 0:
		one.Phase = plan.PhaseFailed
	case 1:
		one.Phase = plan.PhaseWaiting
	case 2, 3:
		one.Phase = plan.PhaseProgressing
		one.Unavailable = s.IntN(s.whole.Members[i].Plan.Limits.MaxUnavailable + 1)
	default:
		one.Phase, one.Unavailable = plan.PhaseCompleted, 0
	}
}

// TestStart_Property: whatever happens to its members, a group never exceeds a limit, starts
// nothing after its failures or before what comes first, and comes to an end.
func TestStart_Property(t *testing.T) {
	for seed := range uint64(3000) {
		s := newStory(seed)
		if err := s.whole.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for turn := 0; ; turn++ {
			start, now := s.whole.Start(s.status)
			for _, i := range start {
				s.mayStart(t, seed, i)
				s.status[i].Phase = plan.PhaseProgressing
			}
			s.withinLimits(t, seed)
			if now.Phase == plan.PhaseCompleted || now.Phase == plan.PhaseFailed {
				s.hasEnded(t, seed, &now)
				break
			}
			if turn > 1000 {
				t.Fatalf("seed %d does not end: %s, %v", seed, now.Reason, s.status)
			}
			if active := s.of(plan.PhaseProgressing, plan.PhaseWaiting); len(active) > 0 {
				s.goOn(active[s.IntN(len(active))])
				continue
			}
			// Nothing is in progress: pods of failed members block the rest, and a user repairs
			// them.
			failed := s.of(plan.PhaseFailed)
			if len(start) == 0 && !slices.ContainsFunc(failed, func(i int) bool { return s.status[i].Unavailable > 0 }) {
				t.Fatalf("seed %d: nothing is in the way, and nothing starts: %s", seed, now.Reason)
			}
			for _, i := range failed {
				s.status[i].Unavailable = 0
			}
		}
	}
}

// mayStart holds a start to waves, dependencies and failures.
func (s *story) mayStart(t *testing.T, seed uint64, i int) {
	t.Helper()
	m := s.whole.Members[i]
	if s.status[i].Phase != plan.PhasePending {
		t.Fatalf("seed %d: %s starts, and is %s", seed, m.Ref, s.status[i].Phase)
	}
	if n := len(s.of(plan.PhaseFailed)); n > s.whole.Bounds.MaxFailures {
		t.Fatalf("seed %d: %s starts after %d failures", seed, m.Ref, n)
	}
	for j, other := range s.whole.Members {
		if p := s.status[j].Phase; other.Wave < m.Wave && (p == plan.PhaseProgressing || p == plan.PhaseWaiting) {
			t.Fatalf("seed %d: %s starts before wave %d has ended", seed, m.Ref, other.Wave)
		}
		if slices.Contains(m.DependsOn, other.Ref) && s.status[j].Phase != plan.PhaseCompleted {
			t.Fatalf("seed %d: %s starts before %s is completed", seed, m.Ref, other.Ref)
		}
	}
}

// withinLimits holds the members in progress to the limits.
func (s *story) withinLimits(t *testing.T, seed uint64) {
	t.Helper()
	active := s.of(plan.PhaseProgressing, plan.PhaseWaiting)
	if most := s.whole.Bounds.Parallel; most > 0 && len(active) > most {
		t.Fatalf("seed %d: %d in progress, the limit is %d", seed, len(active), most)
	}
	sum := 0
	for i := range s.status {
		if takes := s.whole.Members[i].Plan.Limits.MaxUnavailable; slices.Contains(active, i) {
			sum += max(takes, s.status[i].Unavailable)
		} else {
			sum += s.status[i].Unavailable
		}
	}
	if most := s.whole.Bounds.MaxUnavailable; most > 0 && sum > most {
		t.Fatalf("seed %d: %d pods may be unavailable, the limit is %d", seed, sum, most)
	}
	for _, b := range s.whole.Budgets {
		took, users := 0, 0
		for _, i := range active {
			if b.Takes[i] > 0 {
				took, users = took+b.Takes[i], users+1
			}
		}
		if users > 1 && took > b.Allowed {
			t.Fatalf("seed %d: %d rollouts take %d pods of a budget that allows %d", seed, users, took, b.Allowed)
		}
	}
}

// hasEnded holds the end to what has happened.
func (s *story) hasEnded(t *testing.T, seed uint64, now *plan.RolloutStatus) {
	t.Helper()
	failures := len(s.of(plan.PhaseFailed))
	if len(s.of(plan.PhaseProgressing, plan.PhaseWaiting)) > 0 || (failures == 0) != (now.Phase == plan.PhaseCompleted) {
		t.Fatalf("seed %d: %s: %s, %v", seed, now.Phase, now.Reason, s.status)
	}
	if failures > 0 && failures <= s.whole.Bounds.MaxFailures {
		for _, i := range s.of(plan.PhasePending) {
			if len(s.whole.Members[i].DependsOn) == 0 {
				t.Fatalf("seed %d: %s never started: %s", seed, s.whole.Members[i].Ref, now.Members[i].Reason)
			}
		}
	}
}

// FuzzStart: for any record, a decision names members that are pending, each once and with its
// reason, and is the same every time.
func FuzzStart(f *testing.F) {
	f.Add(uint64(1), []byte("prwcf"), 2, 3, 1, false, false)
	f.Add(uint64(7), []byte("fffffp"), 0, 0, -1, true, true)
	f.Fuzz(func(t *testing.T, seed uint64, letters []byte, parallel, unavailable, failures int, paused, aborted bool) {
		s := newStory(seed)
		all := []plan.Phase{plan.PhasePending, plan.PhaseProgressing, plan.PhaseWaiting, plan.PhaseCompleted, plan.PhaseFailed, "", "other"}
		for i := range s.status {
			if i < len(letters) {
				s.status[i] = plan.MemberStatus{Phase: all[int(letters[i])%len(all)], Unavailable: int(letters[i])/16 - 2}
			}
		}
		s.whole.Bounds = plan.Bounds{Parallel: parallel, MaxUnavailable: unavailable, MaxFailures: failures}
		if len(letters) > 0 && len(s.whole.Members) > 1 { // a circle, as an edited record may have
			s.whole.Members[0].DependsOn = append(s.whole.Members[0].DependsOn, s.whole.Members[len(s.whole.Members)-1].Ref)
		}
		_ = s.whole.Check()
		s.whole.Paused, s.whole.Aborted = map[bool]string{true: "by me"}[paused], map[bool]string{true: "by me"}[aborted]
		start, now := s.whole.Start(s.status)
		if again, then := s.whole.Start(s.status); fmt.Sprint(again, then) != fmt.Sprint(start, now) {
			t.Errorf("%v %+v, then %v %+v", start, now, again, then)
		}
		seen := map[int]bool{}
		for _, i := range start {
			if seen[i] || s.status[i].Phase != plan.PhasePending || paused || aborted {
				t.Errorf("%d starts: %+v", i, now)
			}
			seen[i] = true
		}
		for i, one := range s.status {
			if why := now.Members[i].Reason; one.Phase == plan.PhasePending && seen[i] == (why != "") {
				t.Errorf("member %d neither starts nor says why not, or both: %+v", i, now)
			}
		}
		if now.Reason == "" || now.Phase == "" {
			t.Errorf("%+v", now)
		}
	})
}
