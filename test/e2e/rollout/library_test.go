package rollout

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestLibrary_ControlsRolloutsFromElsewhere is what a Go program does with rollouts, from one place while another one
// drives: it promotes, pauses, resumes, aborts and retries, and at last takes the rollout
// back and undoes that.
func TestLibrary_ControlsRolloutsFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"CloneSet"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, kinds[kind].workload)
			r, err := kube.Rollouts(b.Config(), kube.Options{Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: "ann@desk", Lease: steady})
			must(t, err)
			ctx, ref := t.Context(), b.object.Ref
			if _, err := r.Abort(ctx, ref); !errors.Is(err, plan.ErrNoRollout) {
				t.Fatalf("there is none to abort: %v", err)
			}
			p := b.planned(t, r)
			ended := make(chan apply.Result, 1)
			paused := make(chan string, 20)
			go func() {
				res, err := r.Run(ctx, ref, p, apply.Options{Emit: func(e event.Event) {
					if e.Type == event.Paused {
						paused <- e.Text
					}
				}})
				if err != nil {
					t.Error(err)
				}
				ended <- res
			}()
			waits := func(what string) {
				t.Helper()
				if why := <-paused; !strings.Contains(why, what) {
					t.Fatalf("it waits for %q, want %q", why, what)
				}
			}
			waits("promote")
			if _, err := r.Drive(ctx, ref, apply.Options{}); !errors.Is(err, plan.ErrOtherExecutor) {
				t.Errorf("two drive it: %v", err)
			}
			change := func(rec plan.Record, err error) plan.Record {
				t.Helper()
				must(t, err)
				return rec
			}
			change(r.Pause(ctx, ref))
			waits("by ann@desk")
			change(r.Promote(ctx, ref, plan.Promotion{}))
			waits("promote")
			if n := running(b.pods(t), web2); n != 2 {
				t.Errorf("%d pods are updated at the second pause", n)
			}
			change(r.Abort(ctx, ref))
			if res := <-ended; res.Outcome != event.Failed || res.Reason != "aborted by ann@desk" {
				t.Fatalf("%+v", res)
			}
			if _, err := r.Resume(ctx, ref); err == nil || !strings.HasPrefix(err.Error(), "the rollout has failed: aborted by ann@desk") {
				t.Errorf("%v", err)
			}
			if rec := change(r.Retry(ctx, ref)); rec.State() != plan.StateRunning {
				t.Errorf("%s", rec.Describe())
			}
			res, err := r.Drive(ctx, ref, apply.Options{AtPause: true})
			if err != nil || res.Outcome != event.AtPause {
				t.Fatalf("%+v, %v", res, err)
			}
			if res, err = r.RollBack(ctx, ref, apply.Options{}); err != nil || res.Outcome != event.RolledBack || running(b.pods(t), web1) != 4 {
				t.Fatalf("%+v, %v", res, err)
			}
			if res, err = r.Undo(ctx, ref, 0, plan.Policy{Pull: plan.PullNever}, apply.Options{}); err != nil || res.Outcome != event.Completed || running(b.pods(t), web2) != 4 {
				t.Fatalf("%+v, %v", res, err)
			}
			list, _, err := r.List(ctx, b.namespace)
			if err != nil || len(list) != 1 || list[0].State() != plan.StateDone {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// planned makes a plan for a new image that stops twice, and puts it on no record.
func (b *bed) planned(t *testing.T, r apply.Rollouts) plan.Plan {
	t.Helper()
	w, err := r.Open(t.Context(), b.object.Ref)
	must(t, err)
	defer w.Close()
	s, err := w.Observe(t.Context(), b.object.Ref)
	must(t, err)
	desired, err := plan.WithTemplate(s.Workload, b.read(t, b.next).Template)
	must(t, err)
	policy := plan.Policy{Driver: plan.DriverKruise, Steps: steps(t, "1", "2", "100%"), Pull: plan.PullNever}
	policy.Steps[0].Pause, policy.Steps[1].Pause = &plan.Pause{}, &plan.Pause{}
	p, err := plan.Build(desired, s, policy)
	must(t, err)
	return p
}
