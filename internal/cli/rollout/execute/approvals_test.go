package execute

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// allInProgress are records in which every workload of a group has begun its plan.
type allInProgress struct {
	apply.Records

	plans []plan.Plan
}

// Load is the rollout of a workload at its first step.
func (r allInProgress) Load(_ context.Context, ref cluster.Ref) (plan.Record, error) {
	for _, p := range r.plans {
		if p.Target.Ref() == ref {
			return plan.Record{Ref: ref, Plan: p, Begun: time.Unix(1, 0)}, nil
		}
	}
	return plan.Record{}, plan.ErrNoRollout
}

// TestGroupApprovals_CoverOnlyWhatWasShown: a user who approves a recorded group is shown the
// rollouts that have not started. The answer is no approval of those in progress.
func TestGroupApprovals_CoverOnlyWhatWasShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system", "uid": "c1"}}`)
	}))
	t.Cleanup(server.Close)
	here := []string{"XDG_STATE_HOME=" + t.TempDir()}
	rec := groupOfTwo(t)
	for name, c := range map[string]struct {
		digest string
		answer string
		want   bool
	}{
		"the group is asked for":           {answer: "y\n"},
		"the group is named by its digest": {digest: rec.Digest("uid:c1"), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven(&bytes.Buffer{}, false, here)
			d.Factory.Flags.APIServer = &server.URL
			d.Factory.Streams.In, d.Factory.Streams.InTTY = strings.NewReader(c.answer), true
			d.Authority.Digest = c.digest
			a := &session.Approvals{Client: d.Client, Group: true}
			groups := apply.Groups{Rollouts: apply.Rollouts{Records: allInProgress{plans: rec.Plans()}}}
			if err := a.Confirm(t.Context(), &rec, groups); err != nil {
				t.Fatal(err)
			}
			d.Authority.Digest = ""
			for _, p := range rec.Plans() {
				if got, err := a.Approved(t.Context(), p); err != nil || got != c.want {
					t.Errorf("%s: approved is %t, want %t: %v", p.Target.Ref(), got, c.want, err)
				}
			}
		})
	}
}
