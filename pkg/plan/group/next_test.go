package group_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

// phases reads one letter for each member: p ends up pending, r in progress, w waiting,
// c completed, f failed.
func phases(text string) []group.Status {
	var out []group.Status
	for _, letter := range text {
		out = append(out, group.Status{Phase: map[rune]group.Phase{
			'p': group.Pending, 'r': group.Progressing, 'w': group.Waiting, 'c': group.Completed, 'f': group.Failed,
		}[letter]})
	}
	return out
}

// TestNext_StartsWhatTheLimitsAllow is who starts, and why others do not.
func TestNext_StartsWhatTheLimitsAllow(t *testing.T) {
	down := func(s []group.Status, i, unavailable int) []group.Status {
		s[i].Unavailable = unavailable
		return s
	}
	three := []group.Member{member("a", 0), member("b", 0), member("c", 0)}
	waves := []group.Member{member("a", 0), member("b", 5), member("c", 10)}
	chain := []group.Member{member("a", 0), member("b", 0, "a"), member("c", 0, "b")}
	shared := []group.Budget{{Name: "poddisruptionbudget/shop/all", Allowed: 1, Takes: map[int]int{0: 1, 1: 1}}}
	for name, c := range map[string]struct {
		members []group.Member
		limits  group.Limits
		budgets []group.Budget
		status  []group.Status
		control group.Control
		start   []int
		outcome group.Outcome
		// reason and blocked are parts of what is said, blocked of the first that does not start.
		reason, blocked string
	}{
		"all at once":       {members: three, status: phases("ppp"), start: []int{0, 1, 2}, outcome: group.InProgress},
		"no more than two":  {members: three, limits: group.Limits{Parallel: 2}, status: phases("ppp"), start: []int{0, 1}, outcome: group.InProgress, blocked: "2 rollouts in progress, and at most 2 at a time"},
		"a place is free":   {members: three, limits: group.Limits{Parallel: 2}, status: phases("crp"), start: []int{2}, outcome: group.InProgress},
		"waiting counts":    {members: three, limits: group.Limits{Parallel: 1}, status: phases("wpp"), outcome: group.OnHold, reason: "1 rollout waits for a user", blocked: "1 rollout in progress"},
		"the first wave":    {members: waves, status: phases("ppp"), start: []int{0}, outcome: group.InProgress, blocked: "wave 0 has not ended"},
		"the next wave":     {members: waves, status: phases("cpp"), start: []int{1}, outcome: group.InProgress, blocked: "wave 5 has not ended"},
		"a wave waits":      {members: waves, status: phases("cwp"), outcome: group.OnHold, blocked: "wave 5 has not ended"},
		"a failed wave":     {members: waves, status: phases("fpp"), outcome: group.HasFailed, reason: "1 rollout failed: cloneset/a; 2 not started", blocked: "1 rollout failed, and the limit is 0"},
		"failures are few":  {members: waves, limits: group.Limits{MaxFailures: 1}, status: phases("fpp"), start: []int{1}, outcome: group.InProgress},
		"failures are many": {members: waves, limits: group.Limits{MaxFailures: 1}, status: phases("ffp"), outcome: group.HasFailed, blocked: "2 rollouts failed, and the limit is 1"},
		"others end first":  {members: three, status: phases("frp"), outcome: group.InProgress, blocked: "1 rollout failed"},
		"few have failed":   {members: three, limits: group.Limits{MaxFailures: 1}, status: phases("cfc"), outcome: group.HasFailed, reason: "1 rollout failed: cloneset/b"},
		"dependencies":      {members: chain, status: phases("ppp"), start: []int{0}, outcome: group.InProgress, blocked: "depends on cloneset/a, which is not completed"},
		"what it needs is there": {
			members: chain, status: phases("cpp"), start: []int{1}, outcome: group.InProgress, blocked: "depends on cloneset/b, which is not completed",
		},
		"what it needs has failed": {
			members: chain, limits: group.Limits{MaxFailures: 3}, status: phases("fpp"), outcome: group.HasFailed, reason: "1 rollout failed: cloneset/a; 2 not started", blocked: "depends on cloneset/a",
		},
		"hopeless ones keep no wave": {
			members: []group.Member{member("a", 0), member("b", 0, "a"), member("c", 1)}, limits: group.Limits{MaxFailures: 1}, status: phases("fpp"), start: []int{2}, outcome: group.InProgress,
		},
		"pods of all":          {members: three, limits: group.Limits{MaxUnavailable: 2}, status: phases("ppp"), start: []int{0, 1}, outcome: group.InProgress, blocked: "2 pods of all rollouts are or may become unavailable, it needs 1 more, and the limit is 2"},
		"pods of a failed one": {members: three, limits: group.Limits{MaxUnavailable: 2, MaxFailures: 1}, status: down(phases("fpp"), 0, 1), start: []int{1}, outcome: group.InProgress, blocked: "the limit is 2"},
		"no room at all": {
			members: three, limits: group.Limits{MaxUnavailable: 2, MaxFailures: 1}, status: down(phases("fpp"), 0, 2), outcome: group.InProgress, reason: "nothing can start: 2 pods of all rollouts are or may become unavailable", blocked: "the limit is 2",
		},
		"its own pods do not keep it": {members: three[:1], limits: group.Limits{MaxUnavailable: 1}, status: down(phases("p"), 0, 3), start: []int{0}, outcome: group.InProgress},
		"a shared budget":             {members: three, budgets: shared, status: phases("ppp"), start: []int{0, 2}, outcome: group.InProgress, blocked: "poddisruptionbudget/shop/all allows 1 unavailable pod, 1 is taken, and it needs 1"},
		"a budget for one at a time":  {members: three, budgets: []group.Budget{{Name: "b", Takes: map[int]int{0: 1, 1: 1}}}, status: phases("ppp"), start: []int{0, 2}, outcome: group.InProgress, blocked: "b allows 0"},
		"paused":                      {members: three, status: phases("cpp"), control: group.Control{Paused: true}, outcome: group.OnHold, reason: "the group is paused", blocked: "the group is paused"},
		"paused while one goes on":    {members: three, status: phases("rpp"), control: group.Control{Paused: true}, outcome: group.InProgress, blocked: "the group is paused"},
		"aborted":                     {members: three, status: phases("cfp"), control: group.Control{Aborted: true}, outcome: group.Ended, reason: "aborted: 1 of 3 completed, 1 failed or aborted, 1 not started", blocked: "the group was aborted"},
		"rolled back":                 {members: three, status: untouched(phases("ccc"), 1), control: group.Control{Back: true}, outcome: group.Done, reason: "2 of 2 rolled back, 1 not started"},
		"rolling back":                {members: three, status: untouched(phases("ccr"), 0), control: group.Control{Back: true}, outcome: group.InProgress, reason: "1 of 2 rolled back, 1 not started, 1 in progress"},
		"completed":                   {members: three, status: phases("ccc"), outcome: group.Done, reason: "3 of 3 completed"},
		"no members":                  {outcome: group.Done, reason: "0 of 0 completed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := group.Next(group.Group{Members: c.members, Limits: c.limits, Budgets: c.budgets}, c.status, c.control)
			if diff := cmp.Diff(c.start, d.Start, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("starts %s", diff)
			}
			if d.Outcome != c.outcome || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%s: %s, want %s: %s", d.Outcome, d.Reason, c.outcome, c.reason)
			}
			if c.blocked == "" {
				return
			}
			for i := range c.members {
				if why, ok := d.Blocked[i]; ok {
					if !strings.Contains(why, c.blocked) {
						t.Errorf("member %d: %s, want %s", i, why, c.blocked)
					}
					return
				}
			}
			t.Error("all start")
		})
	}
}

// untouched marks a member that never started.
func untouched(status []group.Status, i int) []group.Status {
	status[i].Untouched = true
	return status
}

// TestRecord_KnowsWhatNeverStarted: of a group that is rolled back, a member without a rollout of the group has nothing to
// roll back, whatever was recorded before.
func TestRecord_KnowsWhatNeverStarted(t *testing.T) {
	before := time.Unix(1, 0)
	r := group.Record{Back: true, Before: []time.Time{before}, Plans: []plan.Plan{{}}}
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
	g := group.Group{Members: []group.Member{{Ref: cluster.Ref{Kind: "CloneSet", Name: "a"}}, {Ref: cluster.Ref{Kind: "CloneSet", Name: "b"}}, {Ref: cluster.Ref{Kind: "CloneSet", Name: "c"}}}}
	status := []group.Status{{Phase: group.Completed}, {Phase: group.Waiting}, {Phase: group.Pending}}
	d := group.Observe(g, status, group.Control{})
	if len(d.Start) > 0 || d.Outcome != group.InProgress || d.Reason != "1 of 3 completed, 1 in progress, 1 can start" || d.Blocked[2] == "" {
		t.Errorf("%+v", d)
	}
	status[2].Phase = group.Completed
	if d := group.Observe(g, status, group.Control{}); d.Outcome != group.OnHold || d.Reason != "1 rollout waits for a user" {
		t.Errorf("%+v", d)
	}
}
