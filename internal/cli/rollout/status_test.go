package rollout

import (
	"bytes"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// printing is a verb that prints to a terminal, or to a pipe.
func printing(out *bytes.Buffer, terminal bool) *execute.Execution {
	s := factory.Streams{Out: out, Err: &bytes.Buffer{}, OutTTY: terminal, Size: func() (int, int) { return 80, 24 }}
	return &execute.Execution{Client: session.NewClient(factory.New(s))}
}

// TestStatus_UpToDateIsKubectlsLine: of a workload that is up to date status prints the line that kubectl ends with, and no
// other, on a terminal and in a pipe.
func TestStatus_UpToDateIsKubectlsLine(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		d := printing(&out, terminal)
		d.Output = "text"
		o := &statusOptions{Execution: *d}
		s := &session.Session{Target: kube.Object{Ref: cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}}}
		err := o.follow(t.Context(), s, view.RolloutStatus{Decision: plan.Decision{Verb: plan.Done}})
		if want := "cloneset \"web\" successfully rolled out\n"; err != nil || out.String() != want {
			t.Errorf("terminal %t: %q, %v, want %q", terminal, out.String(), err, want)
		}
	}
}

// TestStatus_OfARollbackIsNoSuccess: what was rolled back and a pod that was restarted are not told as rolled out.
func TestStatus_OfARollbackIsNoSuccess(t *testing.T) {
	for _, c := range []struct {
		kind, back, output string
		want               bool
	}{
		{"CloneSet", "", "text", true},
		{"CloneSet", "aborted by ann", "text", false},
		{"Pod", "", "text", false},
		{"CloneSet", "", "json", false},
	} {
		d := printing(&bytes.Buffer{}, false)
		d.Output = c.output
		o := &statusOptions{Execution: *d}
		s := &session.Session{Target: kube.Object{Ref: cluster.Ref{Kind: c.kind}}}
		if got := o.endsAsKubectl(s, &plan.Plan{RollbackReason: c.back}); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
