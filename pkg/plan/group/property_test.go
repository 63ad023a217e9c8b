package group_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

// story is a group that is carried out by chance.
type story struct {
	*rand.Rand
	group  group.Group
	status []group.Status
	// failed were the failures before each member started.
	failed map[int]int
}

// newStory makes a group of which some fail, by a seed.
func newStory(seed uint64) *story {
	s := &story{Rand: rand.New(rand.NewPCG(seed, 1)), failed: map[int]int{}}
	n := 1 + s.IntN(12)
	for i := range n {
		m := member(fmt.Sprint("m", i), s.IntN(4))
		m.Takes = s.IntN(4)
		for j, other := range s.group.Members {
			if other.Wave <= m.Wave && s.IntN(8) == 0 {
				m.DependsOn = append(m.DependsOn, s.group.Members[j].Ref)
			}
		}
		s.group.Members = append(s.group.Members, m)
	}
	s.group.Limits = group.Limits{Parallel: s.IntN(4), MaxFailures: s.IntN(3)}
	if s.IntN(2) == 0 {
		s.group.Limits.MaxUnavailable = 3 + s.IntN(5)
	}
	for range s.IntN(3) {
		b := group.Budget{Name: "budget", Allowed: s.IntN(4), Takes: map[int]int{}}
		for i, m := range s.group.Members {
			if s.IntN(3) == 0 {
				b.Takes[i] = m.Takes
			}
		}
		s.group.Budgets = append(s.group.Budgets, b)
	}
	s.status = make([]group.Status, n)
	for i := range s.status {
		s.status[i].Phase = group.Pending
	}
	return s
}

func (s *story) of(p ...group.Phase) (out []int) {
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
		one.Phase = group.Failed
	case 1:
		one.Phase = group.Waiting
	case 2, 3:
		one.Phase = group.Progressing
		one.Unavailable = s.IntN(s.group.Members[i].Takes + 1)
	default:
		one.Phase, one.Unavailable = group.Completed, 0
	}
}

// TestNext_Property: whatever happens to its members, a group never exceeds a limit, starts
// nothing after its failures or before what comes first, and comes to an end.
func TestNext_Property(t *testing.T) {
	for seed := range uint64(3000) {
		s := newStory(seed)
		if err := s.group.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for turn := 0; ; turn++ {
			d := group.Next(s.group, s.status, group.Control{})
			for _, i := range d.Start {
				s.mayStart(t, seed, i)
				s.status[i].Phase = group.Progressing
			}
			s.withinLimits(t, seed)
			if d.Outcome == group.Done || d.Outcome == group.HasFailed {
				s.hasEnded(t, seed, d)
				break
			}
			if turn > 1000 {
				t.Fatalf("seed %d does not end: %s, %v", seed, d.Reason, s.status)
			}
			if active := s.of(group.Progressing, group.Waiting); len(active) > 0 {
				s.goOn(active[s.IntN(len(active))])
				continue
			}
			// Nothing is in progress: pods of failed members block the rest, and a user repairs
			// them.
			failed := s.of(group.Failed)
			if len(d.Start) == 0 && !slices.ContainsFunc(failed, func(i int) bool { return s.status[i].Unavailable > 0 }) {
				t.Fatalf("seed %d: nothing is in the way, and nothing starts: %s", seed, d.Reason)
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
	m := s.group.Members[i]
	if s.status[i].Phase != group.Pending {
		t.Fatalf("seed %d: %s starts, and is %s", seed, m.Ref, s.status[i].Phase)
	}
	if n := len(s.of(group.Failed)); n > s.group.Limits.MaxFailures {
		t.Fatalf("seed %d: %s starts after %d failures", seed, m.Ref, n)
	}
	for j, other := range s.group.Members {
		if p := s.status[j].Phase; other.Wave < m.Wave && (p == group.Progressing || p == group.Waiting) {
			t.Fatalf("seed %d: %s starts before wave %d has ended", seed, m.Ref, other.Wave)
		}
		if slices.Contains(m.DependsOn, other.Ref) && s.status[j].Phase != group.Completed {
			t.Fatalf("seed %d: %s starts before %s is completed", seed, m.Ref, other.Ref)
		}
	}
}

// withinLimits holds the members in progress to the limits.
func (s *story) withinLimits(t *testing.T, seed uint64) {
	t.Helper()
	active := s.of(group.Progressing, group.Waiting)
	if most := s.group.Limits.Parallel; most > 0 && len(active) > most {
		t.Fatalf("seed %d: %d in progress, the limit is %d", seed, len(active), most)
	}
	sum := 0
	for i := range s.status {
		if takes := s.group.Members[i].Takes; slices.Contains(active, i) {
			sum += max(takes, s.status[i].Unavailable)
		} else {
			sum += s.status[i].Unavailable
		}
	}
	if most := s.group.Limits.MaxUnavailable; most > 0 && sum > most {
		t.Fatalf("seed %d: %d pods may be unavailable, the limit is %d", seed, sum, most)
	}
	for _, b := range s.group.Budgets {
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
func (s *story) hasEnded(t *testing.T, seed uint64, d group.Decision) {
	t.Helper()
	failures := len(s.of(group.Failed))
	if len(s.of(group.Progressing, group.Waiting)) > 0 || (failures == 0) != (d.Outcome == group.Done) {
		t.Fatalf("seed %d: %s: %s, %v", seed, d.Outcome, d.Reason, s.status)
	}
	if failures > 0 && failures <= s.group.Limits.MaxFailures {
		for _, i := range s.of(group.Pending) {
			if len(s.group.Members[i].DependsOn) == 0 {
				t.Fatalf("seed %d: %s never started: %s", seed, s.group.Members[i].Ref, d.Blocked[i])
			}
		}
	}
}

// FuzzNext: for any record, a decision names members that are pending, each once and with its
// reason, and is the same every time.
func FuzzNext(f *testing.F) {
	f.Add(uint64(1), []byte("prwcf"), 2, 3, 1, false, false)
	f.Add(uint64(7), []byte("fffffp"), 0, 0, -1, true, true)
	f.Fuzz(func(t *testing.T, seed uint64, letters []byte, parallel, unavailable, failures int, paused, aborted bool) {
		s := newStory(seed)
		all := []group.Phase{group.Pending, group.Progressing, group.Waiting, group.Completed, group.Failed, "", "other"}
		for i := range s.status {
			if i < len(letters) {
				s.status[i] = group.Status{Phase: all[int(letters[i])%len(all)], Unavailable: int(letters[i])/16 - 2}
			}
		}
		s.group.Limits = group.Limits{Parallel: parallel, MaxUnavailable: unavailable, MaxFailures: failures}
		if len(letters) > 0 && len(s.group.Members) > 1 { // a circle, as an edited record may have
			s.group.Members[0].DependsOn = append(s.group.Members[0].DependsOn, s.group.Members[len(s.group.Members)-1].Ref)
		}
		_ = s.group.Check()
		c := group.Control{Paused: paused, Aborted: aborted}
		d := group.Next(s.group, s.status, c)
		if again := group.Next(s.group, s.status, c); fmt.Sprint(again) != fmt.Sprint(d) {
			t.Errorf("%+v, then %+v", d, again)
		}
		seen := map[int]bool{}
		for _, i := range d.Start {
			if seen[i] || s.status[i].Phase != group.Pending || paused || aborted {
				t.Errorf("%d starts: %+v", i, d)
			}
			seen[i] = true
		}
		for i, one := range s.status {
			if why := d.Blocked[i]; one.Phase == group.Pending && seen[i] == (why != "") {
				t.Errorf("member %d neither starts nor says why not, or both: %+v", i, d)
			}
		}
		if d.Reason == "" || d.Outcome == "" {
			t.Errorf("%+v", d)
		}
	})
}
