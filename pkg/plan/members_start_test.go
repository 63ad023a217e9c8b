package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// phases reads one letter for each member: p ends up pending, r in progress, w waiting,
// c completed, f failed.
func phases(text string) []plan.MemberStatus {
	var out []plan.MemberStatus
	for _, letter := range text {
		out = append(out, plan.MemberStatus{Phase: map[rune]plan.Phase{
			'p': plan.PhasePending, 'r': plan.PhaseProgressing, 'w': plan.PhaseWaiting, 'c': plan.PhaseCompleted, 'f': plan.PhaseFailed,
		}[letter]})
	}
	return out
}

// TestStart_StartsWhatTheLimitsAllow is who starts, and why others do not.
func TestStart_StartsWhatTheLimitsAllow(t *testing.T) {
	down := func(s []plan.MemberStatus, i, unavailable int) []plan.MemberStatus {
		s[i].Unavailable = unavailable
		return s
	}
	three := []plan.Member{member("a", 0), member("b", 0), member("c", 0)}
	waves := []plan.Member{member("a", 0), member("b", 5), member("c", 10)}
	chain := []plan.Member{member("a", 0), member("b", 0, "a"), member("c", 0, "b")}
	shared := []plan.SharedBudget{{Name: "poddisruptionbudget/shop/all", Allowed: 1, Takes: map[int]int{0: 1, 1: 1}}}
	for name, c := range map[string]struct {
		members []plan.Member
		bounds  plan.Bounds
		budgets []plan.SharedBudget
		status  []plan.MemberStatus
		control plan.Rollout
		start   []int
		phase   plan.Phase
		// reason and blocked are parts of what is said, blocked of the first that does not start.
		reason, blocked string
	}{
		"all at once":       {members: three, status: phases("ppp"), start: []int{0, 1, 2}, phase: plan.PhaseProgressing},
		"no more than two":  {members: three, bounds: plan.Bounds{Parallel: 2}, status: phases("ppp"), start: []int{0, 1}, phase: plan.PhaseProgressing, blocked: "2 rollouts in progress, and at most 2 at a time"},
		"a place is free":   {members: three, bounds: plan.Bounds{Parallel: 2}, status: phases("crp"), start: []int{2}, phase: plan.PhaseProgressing},
		"waiting counts":    {members: three, bounds: plan.Bounds{Parallel: 1}, status: phases("wpp"), phase: plan.PhaseWaiting, reason: "1 rollout waits for a user", blocked: "1 rollout in progress"},
		"the first wave":    {members: waves, status: phases("ppp"), start: []int{0}, phase: plan.PhaseProgressing, blocked: "wave 0 has not ended"},
		"the next wave":     {members: waves, status: phases("cpp"), start: []int{1}, phase: plan.PhaseProgressing, blocked: "wave 5 has not ended"},
		"a wave waits":      {members: waves, status: phases("cwp"), phase: plan.PhaseWaiting, blocked: "wave 5 has not ended"},
		"a failed wave":     {members: waves, status: phases("fpp"), phase: plan.PhaseFailed, reason: "1 rollout failed: cloneset/a; 2 not started", blocked: "1 rollout failed, and the limit is 0"},
		"failures are few":  {members: waves, bounds: plan.Bounds{MaxFailures: 1}, status: phases("fpp"), start: []int{1}, phase: plan.PhaseProgressing},
		"failures are many": {members: waves, bounds: plan.Bounds{MaxFailures: 1}, status: phases("ffp"), phase: plan.PhaseFailed, blocked: "2 rollouts failed, and the limit is 1"},
		"others end first":  {members: three, status: phases("frp"), phase: plan.PhaseProgressing, blocked: "1 rollout failed"},
		"few have failed":   {members: three, bounds: plan.Bounds{MaxFailures: 1}, status: phases("cfc"), phase: plan.PhaseFailed, reason: "1 rollout failed: cloneset/b"},
		"dependencies":      {members: chain, status: phases("ppp"), start: []int{0}, phase: plan.PhaseProgressing, blocked: "depends on cloneset/a, which is not completed"},
		"what it needs is there": {
			members: chain, status: phases("cpp"), start: []int{1}, phase: plan.PhaseProgressing, blocked: "depends on cloneset/b, which is not completed",
		},
		"what it needs has failed": {
			members: chain, bounds: plan.Bounds{MaxFailures: 3}, status: phases("fpp"), phase: plan.PhaseFailed, reason: "1 rollout failed: cloneset/a; 2 not started", blocked: "depends on cloneset/a",
		},
		"hopeless ones keep no wave": {
			members: []plan.Member{member("a", 0), member("b", 0, "a"), member("c", 1)}, bounds: plan.Bounds{MaxFailures: 1}, status: phases("fpp"), start: []int{2}, phase: plan.PhaseProgressing,
		},
		"pods of all":          {members: three, bounds: plan.Bounds{MaxUnavailable: 2}, status: phases("ppp"), start: []int{0, 1}, phase: plan.PhaseProgressing, blocked: "2 pods of all rollouts are or may become unavailable, it needs 1 more, and the limit is 2"},
		"pods of a failed one": {members: three, bounds: plan.Bounds{MaxUnavailable: 2, MaxFailures: 1}, status: down(phases("fpp"), 0, 1), start: []int{1}, phase: plan.PhaseProgressing, blocked: "the limit is 2"},
		"no room at all": {
			members: three, bounds: plan.Bounds{MaxUnavailable: 2, MaxFailures: 1}, status: down(phases("fpp"), 0, 2), phase: plan.PhaseProgressing, reason: "nothing can start: 2 pods of all rollouts are or may become unavailable", blocked: "the limit is 2",
		},
		"its own pods do not keep it": {members: three[:1], bounds: plan.Bounds{MaxUnavailable: 1}, status: down(phases("p"), 0, 3), start: []int{0}, phase: plan.PhaseProgressing},
		"a shared budget":             {members: three, budgets: shared, status: phases("ppp"), start: []int{0, 2}, phase: plan.PhaseProgressing, blocked: "poddisruptionbudget/shop/all allows 1 unavailable pod, 1 is taken, and it needs 1"},
		"a budget for one at a time":  {members: three, budgets: []plan.SharedBudget{{Name: "b", Takes: map[int]int{0: 1, 1: 1}}}, status: phases("ppp"), start: []int{0, 2}, phase: plan.PhaseProgressing, blocked: "b allows 0"},
		"paused":                      {members: three, status: phases("cpp"), control: plan.Rollout{Paused: "by me"}, phase: plan.PhaseWaiting, reason: "the group is paused", blocked: "the group is paused"},
		"paused while one continues":  {members: three, status: phases("rpp"), control: plan.Rollout{Paused: "by me"}, phase: plan.PhaseProgressing, blocked: "the group is paused"},
		"aborted":                     {members: three, status: phases("cfp"), control: plan.Rollout{Aborted: "by me"}, phase: plan.PhaseAborted, reason: "aborted: 1 of 3 completed, 1 failed or aborted, 1 not started", blocked: "the group was aborted"},
		"rolled back":                 {members: three, status: untouched(phases("ccc"), 1), control: plan.Rollout{Back: true}, phase: plan.PhaseCompleted, reason: "2 of 2 rolled back, 1 not started"},
		"rolling back":                {members: three, status: untouched(phases("ccr"), 0), control: plan.Rollout{Back: true}, phase: plan.PhaseProgressing, reason: "1 of 2 rolled back, 1 not started, 1 in progress"},
		"completed":                   {members: three, status: phases("ccc"), phase: plan.PhaseCompleted, reason: "3 of 3 completed"},
		"no members":                  {phase: plan.PhaseCompleted, reason: "0 of 0 completed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.control
			r.Members, r.Bounds, r.Budgets = c.members, c.bounds, c.budgets
			start, now := r.Start(c.status)
			if diff := cmp.Diff(c.start, start, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("starts %s", diff)
			}
			if now.Phase != c.phase || !strings.Contains(now.Reason, c.reason) {
				t.Errorf("%s: %s, want %s: %s", now.Phase, now.Reason, c.phase, c.reason)
			}
			if c.blocked == "" {
				return
			}
			for i, m := range now.Members {
				if m.Reason != "" {
					if !strings.Contains(m.Reason, c.blocked) {
						t.Errorf("member %d: %s, want %s", i, m.Reason, c.blocked)
					}
					return
				}
			}
			t.Error("all start")
		})
	}
}

// untouched marks a member that never started.
func untouched(status []plan.MemberStatus, i int) []plan.MemberStatus {
	status[i].Untouched = true
	return status
}

// TestRollout_KnowsWhatNeverStarted: of a group that is rolled back, a member without a rollout of the group has nothing to
// roll back, whatever was recorded before.
func TestRollout_KnowsWhatNeverStarted(t *testing.T) {
	before := time.Unix(1, 0)
	r := plan.Rollout{Back: true, Members: []plan.Member{{Before: before}}}
	for want, c := range map[bool][]struct {
		begun time.Time
		ok    bool
	}{true: {{time.Time{}, false}, {before, true}}, false: {{before.Add(time.Second), true}}} {
		for _, c := range c {
			if got := r.IsUntouched(0, plan.Record{Begun: c.begun}, c.ok); got != want {
				t.Errorf("%+v: %t", c, got)
			}
		}
	}
	if r.Back = false; r.IsUntouched(0, plan.Record{}, false) {
		t.Error("a group that goes forward has members that are pending")
	}
}

// TestObserve_StartsNothing: who only reads the records does not count members as in progress that
// could start.
func TestObserve_StartsNothing(t *testing.T) {
	g := plan.Rollout{Members: []plan.Member{{Ref: cluster.Ref{Kind: "CloneSet", Name: "a"}}, {Ref: cluster.Ref{Kind: "CloneSet", Name: "b"}}, {Ref: cluster.Ref{Kind: "CloneSet", Name: "c"}}}}
	status := []plan.MemberStatus{{Phase: plan.PhaseCompleted}, {Phase: plan.PhaseWaiting}, {Phase: plan.PhasePending}}
	now := g.Observe(status)
	if now.Phase != plan.PhaseProgressing || now.Reason != "1 of 3 completed, 1 in progress, 1 can start" || now.Members[2].Reason == "" || now.Members[2].Phase != plan.PhasePending {
		t.Errorf("%+v", now)
	}
	status[2].Phase = plan.PhaseCompleted
	if now := g.Observe(status); now.Phase != plan.PhaseWaiting || now.Reason != "1 rollout waits for a user" {
		t.Errorf("%+v", now)
	}
}
