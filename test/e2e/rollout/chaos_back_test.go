package rollout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/library"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/e2e/rollout/invariant"
)

// ending is how a history ends.
type ending string

const (
	goesForward ending = "forward"
	// rollsBack is abort --rollback, in the middle or after the end.
	rollsBack ending = "abort --rollback"
	// undoes is abort, where the rollout is in progress, and then undo.
	undoes ending = "undo"
)

// held are the kinds whose manifest may have a partition, by where it goes.
var held = map[string]string{
	"CloneSet":             "rollingUpdate: {",
	"Advanced DaemonSet":   "rollingUpdate: {",
	"Advanced StatefulSet": "serviceName: web",
	"StatefulSet":          "serviceName: web",
}

// choose draws how a history ends, and the partition of its manifest, apart from the other draws: what a seed
// does on the way forward stays the same.
func (h *history) choose(text string, ways []ending) string {
	chance := rand.New(rand.NewPCG(h.seed, 9))
	if len(ways) > 0 {
		h.ending = ways[chance.IntN(len(ways))]
	}
	if h.ending == goesForward {
		return text
	}
	h.turn = 10 + chance.IntN(80)
	if h.ending == rollsBack && chance.IntN(2) == 0 {
		h.policy.OnFailure = plan.FailRollback
	}
	if place := held[h.kind]; place != "" && chance.IntN(2) == 0 {
		h.story = append(h.story, "the manifest has a partition")
		switch {
		case place != "serviceName: web":
			text = strings.Replace(text, place, place+"partition: 1, ", 1)
		default:
			text = strings.Replace(text, place, place+"\n  updateStrategy: {rollingUpdate: {partition: 1}}", 1)
		}
	}
	return text
}

// turns has a user end the rollout at a request of a process; its next process leads back.
func (h *history) turns(ctx context.Context) {
	if !h.planned() || h.turned.Swap(true) {
		return
	}
	err := h.change(ctx, func(r *plan.Record) {
		end := r.Progress.Abort
		if h.ending == rollsBack {
			end = r.Progress.RollBack
		}
		if ended, err := end(r.Plan, "aborted by carla"); err == nil {
			r.Progress = ended
		}
	})
	h.tell("%s: %v", h.ending, err)
}

// leadsBack reports whether a plan is one to the template that the history started from.
func (h *history) leadsBack(p *plan.Plan) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plan != nil && p.Change.ToHash == h.plan.Change.FromHash
}

// isBack reports whether a process has led back, or found that nothing had changed.
func (h *history) isBack(res apply.Result) bool {
	return res.Outcome == event.RolledBack || res.Outcome == event.Completed && h.turned.Load() && (len(res.Plan.Steps) == 0 || h.leadsBack(&res.Plan))
}

// driveBack leads back, or continues what does.
func (h *history) driveBack(ctx context.Context, cfg *rest.Config) (apply.Result, error) {
	r, err := kube.Rollouts(cfg, kube.Options{
		Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise", Holder: cfg.Impersonate.UserName, Lease: stormy,
		Warnings: h,
	})
	if err != nil {
		return apply.Result{}, err
	}
	r.Approvals, r.Workloads = everything{}, shiftedWorkloads{r.Workloads, &h.ahead}
	o := apply.Options{Emit: func(e event.Event) { h.tell("back: %s %d %s %s", e.Type, e.Step, e.Text, e.Request) }}
	lib := library.Rollouts{Rollouts: r}
	rec, err := r.Get(ctx, h.object.Ref)
	switch {
	case err != nil:
		return apply.Result{}, err
	case h.leadsBack(&rec.Plan):
		return lib.Drive(ctx, h.object.Ref, o)
	case h.ending == rollsBack:
		return lib.RollBack(ctx, h.object.Ref, o)
	case rec.InFlight():
		if _, err := r.Do(ctx, h.object.Ref, apply.Act{Transition: plan.TransitionAbort}); err != nil {
			return apply.Result{}, err
		}
	}
	// No pod is kept by a partition.
	res, err := lib.Undo(ctx, h.object.Ref, plan.Policy{Driver: h.policy.Driver, Steps: h.policy.Steps, Pull: plan.PullNever}, o)
	if err != nil && strings.Contains(err.Error(), "has no older revision") { // nothing was written
		return apply.Result{Outcome: event.Completed}, nil
	}
	return res, err
}

// shiftedWorkloads are opened with a clock that is ahead.
type shiftedWorkloads struct {
	apply.Workloads

	ahead *atomic.Int64
}

// Open is [apply.Workloads].
func (s shiftedWorkloads) Open(ctx context.Context, ref cluster.Ref) (apply.Workload, error) {
	w, err := s.Workloads.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return shifted{w.(*kube.Cluster), s.ahead}, nil //nolint:forcetypeassert // that is what it opens
}

// Now is [apply.Workloads].
func (s shiftedWorkloads) Now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// everything is approved.
type everything struct{}

// Approve is [apply.Approvals].
func (everything) Approve(context.Context, plan.Plan) error { return nil }

// Approved is [apply.Approvals].
func (everything) Approved(context.Context, plan.Plan) (bool, error) { return true, nil }

// TakeOver is [apply.Approvals].
func (everything) TakeOver(context.Context, apply.TakeOver) (bool, error) { return true, nil }

// outcomeBack checks that all pods have the template again that they started from, and that nothing of
// the rollout holds pods of a later change.
func (h *history) outcomeBack(t *testing.T) {
	t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, testcluster.Patience, true, func(context.Context) (bool, error) {
		pods := h.pods(t)
		got = fmt.Sprintf("%d of %d pods run the old image", running(pods, web1), len(pods))
		return running(pods, web1) == len(pods), nil
	})
	if err != nil {
		t.Error(got)
	}
	ends := rule{"released", invariant.Released}
	if h.ending == rollsBack {
		ends = rule{"restored", invariant.Restored}
	}
	h.wants(t, backward, ends)
}
