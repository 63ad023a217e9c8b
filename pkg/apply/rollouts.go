package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Records keep the rollouts of a cluster, one for each workload.
type Records interface {
	// Load returns the rollout of a workload; the error wraps plan.ErrNoRollout without
	// one.
	Load(ctx context.Context, ref cluster.Ref) (plan.Record, error)
	// List returns those of a namespace, or of all for "", and apart from them the ones that
	// cannot be read: one record that was edited must not hide the others.
	List(ctx context.Context, namespace string) ([]plan.Record, []UnreadableRecordError, error)
	// Change changes the progress of a rollout as it is recorded now. change is called
	// again where another process has written in between; its error ends the change, and
	// nothing is written. by is who changes it.
	Change(ctx context.Context, ref cluster.Ref, by string, change func(*plan.Record) error) (plan.Record, error)
	// Holder names who drives a rollout now; "" for none.
	Holder(ctx context.Context, ref cluster.Ref) (string, error)
}

// UnreadableRecordError is a ConfigMap that is labelled as the record of a rollout, and cannot be
// read as one: it was edited, or another version has written it.
type UnreadableRecordError struct {
	Namespace, ConfigMap string
	// Group is true for the record of a group of rollouts.
	Group bool
	// Program is what wrote it last, with its version, as it says itself; "" where it does not.
	Program string
	// Err is what is wrong with it.
	Err error
}

// Error names the ConfigMap and what is wrong with it.
func (u UnreadableRecordError) Error() string {
	what := "rollout"
	if u.Group {
		what = "group of rollouts"
	}
	text := fmt.Sprintf("ConfigMap %s/%s holds no %s that this version can read: %v", u.Namespace, u.ConfigMap, what, u.Err)
	if u.Program != "" {
		text += "; " + u.Program + " wrote it last"
	}
	return text
}

// Hint names the commands that show and remove it.
func (u UnreadableRecordError) Hint() string {
	remove := fmt.Sprintf("'kubectl delete configmap %s -n %s' removes it", u.ConfigMap, u.Namespace)
	if !u.Group {
		remove = "'kubectl kruise rollout run … --discard-record' removes it before the next rollout, " + strings.TrimSuffix(remove, " removes it") + " at once"
	}
	finish := ""
	if u.Program != "" {
		finish = "complete or abort it with " + u.Program + ", if that is another version; "
	}
	return fmt.Sprintf("%s'kubectl get configmap %s -n %s -o yaml' shows it; %s, the plan and its history included, and leaves the workload as it is", finish, u.ConfigMap, u.Namespace, remove)
}

// Unwrap returns the cause.
func (u UnreadableRecordError) Unwrap() error { return u.Err }

// Workload is one workload of a cluster, opened so that its rollout can be driven.
type Workload interface {
	Cluster
	// Rollout returns the recorded rollout; the error wraps plan.ErrNoRollout without one.
	Rollout() (plan.Record, error)
	// Resume is Rollout, to be driven from where it is: from now on another one in its
	// place is an error that wraps plan.ErrOtherExecutor. The caller holds the rollout.
	Resume() (plan.Record, error)
	// Decide records a person's change of how far the rollout has come, and returns the
	// record as it is then. The error wraps plan.ErrConflict where another process has
	// recorded something since the snapshot of that version. The caller holds the rollout.
	Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error)
	// May reports which permissions carrying a plan out lacks.
	May(ctx context.Context, p plan.Plan) error
	// Hold makes the caller the one that drives the rollout. The context that it returns
	// ends with a cause that wraps plan.ErrOtherExecutor when another has taken over, and
	// release lets go. waiting is called with a holder that may be gone, while it is waited
	// for. The error wraps plan.ErrOtherExecutor where the holder is alive.
	Hold(ctx context.Context, waiting func(holder string)) (held context.Context, release func(), err error)
	// Announce tells other users of the cluster what the rollout does.
	Announce(e event.Event)
	// Close ends what Open began.
	Close()
}

// Workloads are where the workloads of a cluster are opened.
type Workloads interface {
	// Open opens a workload by its name.
	Open(ctx context.Context, ref cluster.Ref) (Workload, error)
	// Now is the clock.
	Now() time.Time
	// Waiting is told of a holder of a rollout that may be gone, while it is waited for.
	Waiting(holder string)
}

// Rollouts are the rollouts of one cluster: what `kubectl kruise rollout` does, as
// functions. [Rollouts.Do] changes what is recorded; Begin, TakeOver and Rollback return the executor of a rollout,
// which this process carries out. All of them ask package plan what is allowed, so a
// refusal is a *plan.TransitionError with a hint, and a workload without a rollout an
// error that wraps plan.ErrNoRollout.
type Rollouts struct {
	Records   Records
	Workloads Workloads
	// By names this program and the person behind it, for others to read.
	By string
	// Approvals know what the person behind this program has approved. Without them
	// nothing is: a plan from a record is then driven only as far as it changes nothing
	// that runs, and no further than its present step.
	Approvals Approvals
}

// List returns the recorded rollouts of a namespace, or of all for "", and the records that
// cannot be read.
func (r Rollouts) List(ctx context.Context, namespace string) ([]plan.Record, []UnreadableRecordError, error) {
	return r.Records.List(ctx, namespace)
}

// Get returns the recorded rollout of a workload.
func (r Rollouts) Get(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	return r.Records.Load(ctx, ref)
}

// Holder names who drives a rollout now; "" for none.
func (r Rollouts) Holder(ctx context.Context, ref cluster.Ref) (string, error) {
	return r.Records.Holder(ctx, ref)
}

// Idle reports why another plan cannot take the place of the recorded one, by a
// transition that does that; nil where nothing is in flight.
func Idle(w Workload, t plan.Transition) error {
	rec, err := w.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err != nil:
		return err
	}
	return rec.Progress.Allows(t, rec.Plan)
}
