package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
)

// TestGroupStatus_IsMadeOfWhatBecameOfTheMembers: a group that was rolled back is not called completed, and neither are its
// members, least of all one that never started.
func TestGroupStatus_IsMadeOfWhatBecameOfTheMembers(t *testing.T) {
	members := []apply.MemberStatus{
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "a"}, Wave: -2, Phase: group.Completed},
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "b"}, Phase: group.Completed, Untouched: true},
		{Ref: cluster.Ref{Kind: "CloneSet", Name: "c"}, Phase: group.Failed},
	}
	for name, c := range map[string]struct {
		back    bool
		outcome group.Outcome
		want    []string
	}{
		"rolled back":     {true, group.Done, []string{"rolled back", "rolled back", "not started", "failed"}},
		"back has failed": {true, group.HasFailed, []string{"failed", "rolled back", "not started", "failed"}},
		"forward":         {false, group.Done, []string{"completed", "completed", "not started", "failed"}},
	} {
		s := groupStatus(group.Record{Back: c.back}, apply.GroupStatus{Outcome: c.outcome, Members: members})
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
