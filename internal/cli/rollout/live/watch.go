package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// WatchedWorkload is one workload with all that the executor of its rollout sees.
type WatchedWorkload struct {
	at         *execute.Execution
	s          *session.Session
	rollouts   apply.Rollouts
	controller *diagnose.Controller
	// asked is when the controller was last requested and, for the record of that version, the
	// holder.
	asked  time.Time
	events func(map[string]bool) []*corev1.Event
}

// WatchWorkload begins to watch a workload.
func (d *Rollouts) WatchWorkload(ctx context.Context, ref cluster.Ref) (*WatchedWorkload, error) {
	at, _ := d.Sessions()
	rollouts, err := at.Rollouts()
	if err != nil {
		return nil, err
	}
	s, err := at.OpenRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	watched := &WatchedWorkload{at: at, s: s, rollouts: rollouts}
	if watched.events, err = s.Events(); err != nil {
		watched.Close()
		return nil, err
	}
	return watched, nil
}

// Close ends the watches.
func (s *WatchedWorkload) Close() { s.s.Close() }

// Await returns when something has changed since a snapshot of that version, or at a
// time.
func (s *WatchedWorkload) Await(ctx context.Context, since string, until time.Time) error {
	return s.s.Await(ctx, s.s.Target.Ref, since, until)
}

// Holder requests the executor of the recorded rollout; "" is none.
func (s *WatchedWorkload) Holder(ctx context.Context) string {
	by, err := s.rollouts.Holder(ctx, s.s.Target.Ref)
	if err != nil {
		return "an executor that you may not read"
	}
	return by
}

// Question is all that is known of the workload, as `why` asks it. holder knows who
// drives the recorded rollout, and is asked where there is one.
func (s *WatchedWorkload) Question(ctx context.Context, holder func(context.Context) string) (diagnose.Question, error) {
	ref := s.s.Target.Ref
	q := diagnose.Question{Name: ref.String(), Now: s.s.Now()}
	var err error
	if q.Snapshot, err = s.s.Observe(ctx, ref); err != nil {
		return q, err
	}
	if q.Snapshot.Workload == nil {
		return q, fmt.Errorf("%s: %w", ref, plan.ErrNotFound)
	}
	rec, err := s.s.Rollout()
	switch {
	case err != nil && !errors.Is(err, plan.ErrNoRollout):
		return q, err
	case err != nil, !rec.Progress.Finished.IsZero():
		q.ForSpec()
	default:
		q.Begun, q.Plan, q.Holder = true, rec.Plan, holder(ctx)
	}
	q.Controller = s.above(ctx, q.Now)
	return q, nil
}

// Rollouts are those recorded, the newest first; none where the record cannot be read.
func (s *WatchedWorkload) Rollouts() []plan.PastRollout {
	rec, err := s.s.Rollout()
	if err != nil {
		return nil
	}
	return rec.Rollouts()
}

// handsAfter is how old an answer about who else drives the workload may be.
const handsAfter = 15 * time.Second

func (s *WatchedWorkload) above(ctx context.Context, now time.Time) *diagnose.Controller {
	if now.Sub(s.asked) < handsAfter {
		return s.controller
	}
	client, err := s.at.Factory.Dynamic()
	if err != nil {
		return s.controller
	}
	if controller, err := clusterread.FindController(ctx, client, session.ObjectOf(s.s.Object).Ref, s.s.Object); err == nil {
		s.controller = controller
	}
	s.asked = now
	return s.controller
}

// Events are those about objects of these names.
func (s *WatchedWorkload) Events(names map[string]bool) []*corev1.Event { return s.events(names) }
