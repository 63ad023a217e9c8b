package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestGroupStatus_IsMadeOfWhatBecameOfTheMembers: a group that was rolled back is not called completed, and neither are its
// members, least of all one that never started.
func TestGroupStatus_IsMadeOfWhatBecameOfTheMembers(t *testing.T) {
	members := []plan.MemberStatus{
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "a"}, Wave: -2, Phase: plan.PhaseCompleted},
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "b"}, Phase: plan.PhaseCompleted, Untouched: true},
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "c"}, Phase: plan.PhaseFailed},
	}
	for name, c := range map[string]struct {
		back    bool
		outcome plan.Phase
		want    []string
	}{
		"rolled back":     {true, plan.PhaseCompleted, []string{"rolled back", "rolled back", "not started", "failed"}},
		"back has failed": {true, plan.PhaseFailed, []string{"failed", "rolled back", "not started", "failed"}},
		"forward":         {false, plan.PhaseCompleted, []string{"completed", "completed", "not started", "failed"}},
	} {
		s := GroupStatus(plan.Rollout{Back: c.back}, plan.RolloutStatus{Phase: c.outcome, Members: members})
		got := []string{s.Outcome}
		for _, m := range s.Members {
			got = append(got, m.Phase)
		}
		if want := map[bool]int{true: 2, false: -2}[c.back]; s.Members[0].Wave != want {
			t.Errorf("%s: wave %d, want %d", name, s.Members[0].Wave, want)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
