package apply

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// confirmsWithin is how long the process that drives a rollout has for stopping the
// controller. It watches the record, so it takes a request or two.
const confirmsWithin = 3 * time.Second

// looksEvery is how often the record is read meanwhile.
const looksEvery = 100 * time.Millisecond

// stop returns when no further pod of a rollout is updated that was paused or aborted, see
// [plan.ControllerStop]. The process that drives the rollout stops the controller; where there is none,
// or it does not answer, this one does. It does nothing for a rollout without such a request.
// The error is a *DeniedError where the caller may not write the workload.
func (r Rollouts) stop(ctx context.Context, ref cluster.Ref) (plan.Record, error) {
	rec, driven, err := r.confirmed(ctx, ref)
	if err != nil || !rec.Progress.Stop.Asked {
		return rec, err
	}
	w, err := r.Workloads.Open(ctx, ref)
	switch {
	case err != nil && !stops(rec):
		return rec, nil // it is stopped; who may not watch the workload sees it a moment early
	case err != nil:
		return rec, err
	}
	defer w.Close()
	if !stops(rec) {
		awaitObserved(ctx, w, ref)
		return rec, nil
	}
	if err := w.May(ctx, plan.Plan{Target: rec.Plan.Target, Driver: rec.Plan.Driver}); err != nil {
		return rec, &DeniedError{err}
	}
	if err := stopAt(ctx, w, ref, driven); err != nil {
		return rec, fmt.Errorf("the controller of %s is not stopped: %w", ref, err)
	}
	awaitObserved(ctx, w, ref)
	return r.Records.Load(ctx, ref)
}

// observedWithin bounds how long a controller is waited for that was stopped: one that is gone
// updates no pod either.
const observedWithin = 5 * time.Second

// awaitObserved returns when the controller has seen that it is stopped: a pass that had begun
// before may still take a pod.
func awaitObserved(ctx context.Context, w Workload, ref cluster.Ref) {
	for end := w.Now().Add(observedWithin); w.Now().Before(end); {
		s, err := w.Observe(ctx, ref)
		if err != nil || s.Observed() || w.Await(ctx, ref, s.Version, end) != nil {
			return
		}
	}
}

// stops reports whether the controller still has to be stopped.
func stops(rec plan.Record) bool { return rec.Progress.Stop.Asked && !rec.Progress.Stop.Done }

// confirmed gives the process that drives a rollout the time to stop the controller.
func (r Rollouts) confirmed(ctx context.Context, ref cluster.Ref) (rec plan.Record, driven bool, err error) {
	for end := time.Now().Add(confirmsWithin); ; {
		if rec, err = r.Records.Load(ctx, ref); err != nil || !stops(rec) {
			return rec, driven, err
		}
		by, err := r.Records.Holder(ctx, ref)
		driven = err == nil && by != ""
		if !driven || !time.Now().Before(end) {
			return rec, driven, nil
		}
		if err := pause(ctx, looksEvery); err != nil {
			return rec, driven, err
		}
	}
}

// pause waits; the error is why the context ended meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// mostTries is how often a write is tried that others keep from taking effect.
const mostTries = 10

// stopAt stops the controller of a workload. Where another process drives the rollout, that
// one confirms it in the record.
func stopAt(ctx context.Context, w Workload, ref cluster.Ref, driven bool) error {
	var err error
	for try := range mostTries {
		if try > 1 {
			if err := pause(ctx, pauseAfter(try-1)); err != nil {
				return err
			}
		}
		var done bool
		if done, err = stopOnce(ctx, w, ref, driven); done || err != nil && !isTemporary(err) {
			return err
		}
	}
	return err
}

// stopOnce looks, records what is due and writes it; done is true where nothing was.
func stopOnce(ctx context.Context, w Workload, ref cluster.Ref, driven bool) (done bool, err error) {
	rec, err := w.Rollout()
	if err != nil {
		return false, err
	}
	s, err := w.Observe(ctx, ref)
	if err != nil {
		return false, err
	}
	if s.Progress.State(rec.Plan) == plan.StateRunning || s.Progress.State(rec.Plan) == plan.StateDone {
		return true, nil // it was resumed
	}
	d := plan.Next(rec.Plan, s, w.Now())
	if d.Progress != s.Progress && (d.Verb == plan.Act || !driven) {
		if err := w.Record(ctx, ref, s.Version, d.Progress); err != nil {
			return false, err
		}
	}
	if d.Verb != plan.Act {
		return true, nil
	}
	for i := range d.Actions {
		if err := w.Do(ctx, ref, d.Actions[i]); err != nil {
			return false, err
		}
	}
	return false, nil
}
