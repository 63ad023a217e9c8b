package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	shared "github.com/kubectl-kruise/kubectl-kruise/internal/testing/library"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// memory keeps the rollout of one workload, and is that workload.
type memory struct {
	*bed
	t        *testing.T
	mu       sync.Mutex
	rec      *plan.Record
	holder   string
	denied   error
	meddles  func() // another process writes in between
	opened   int
	announce int
}

var (
	_ apply.Records  = (*memory)(nil)
	_ apply.Workload = (*memory)(nil)
)

// rollouts are those of a world with one workload.
func rollouts(t *testing.T, doc string, o simulate.Options, policy plan.Policy) (library, *memory) {
	t.Helper()
	m := &memory{bed: newBed(t, doc, o, policy)}
	return library{shared.Rollouts{Rollouts: apply.Rollouts{Records: m, Workloads: m, By: "ann"}}}, m
}

func (m *memory) Waiting(string) {}

func (m *memory) Open(_ context.Context, ref cluster.Ref) (apply.Workload, error) {
	if ref != m.ref {
		return nil, fmt.Errorf("%s: %w", ref, plan.ErrNotFound)
	}
	m.opened++
	return m, nil
}

func (m *memory) Load(context.Context, cluster.Ref) (plan.Record, error) {
	if m.rec == nil {
		return plan.Record{}, fmt.Errorf("%s: %w", m.ref, plan.ErrNoRollout)
	}
	s, err := m.Snapshot(m.ref)
	rec := *m.rec
	rec.Progress, rec.Version = s.Progress, s.Version
	return rec, err
}

func (m *memory) List(ctx context.Context, namespace string) ([]plan.Record, []apply.UnreadableRecordError, error) {
	rec, err := m.Load(ctx, m.ref)
	if errors.Is(err, plan.ErrNoRollout) || namespace != "" && namespace != m.ref.Namespace {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return []plan.Record{rec}, nil, nil
}

func (m *memory) Change(ctx context.Context, ref cluster.Ref, by string, change func(*plan.Record) error) (plan.Record, error) {
	for {
		rec, err := m.Load(ctx, ref)
		if err == nil {
			err = change(&rec)
		}
		if err != nil {
			return rec, err
		}
		if meddle := m.meddles; meddle != nil {
			m.meddles = nil
			meddle()
		}
		if err = m.Record(ctx, ref, rec.Version, rec.Progress); !errors.Is(err, plan.ErrConflict) {
			m.rec.By = by
			return rec, err
		}
	}
}

func (m *memory) Holder(context.Context, cluster.Ref) (string, error) { return m.holder, nil }

func (m *memory) Begin(ctx context.Context, ref cluster.Ref, p plan.Plan) error {
	m.rec = &plan.Record{Ref: ref, Plan: p, Begun: m.Now()}
	return m.World.Begin(ctx, ref, p)
}

func (m *memory) Rollout() (plan.Record, error) { return m.Load(context.Background(), m.ref) }

func (m *memory) Resume() (plan.Record, error) { return m.Rollout() }

func (m *memory) Decide(ctx context.Context, ref cluster.Ref, since string, p plan.Progress) (plan.Record, error) {
	if meddle := m.meddles; meddle != nil {
		m.meddles = nil
		meddle()
	}
	if err := m.Record(ctx, ref, since, p); err != nil {
		return *m.rec, err
	}
	m.rec.By = "ann"
	return m.Load(ctx, ref)
}

func (m *memory) May(context.Context, plan.Plan) error { return m.denied }

func (m *memory) Hold(ctx context.Context, _ func(string)) (context.Context, func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holder != "" {
		return nil, nil, fmt.Errorf("%w: %s", plan.ErrOtherExecutor, m.holder)
	}
	m.holder = "ann"
	return ctx, func() { m.holder = "" }, nil
}

func (m *memory) Announce(event.Event) { m.announce++ }

func (m *memory) Close() { m.opened-- }

// TestRollouts_RunFromStartToUndo is a rollout as a program drives it, from its beginning to its end and
// back.
func TestRollouts_RunFromStartToUndo(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "4+pause", "100%")})
	ctx := t.Context()
	if _, err := r.Pause(ctx, m.ref); !errors.Is(err, plan.ErrNoRollout) {
		t.Errorf("there is none to pause: %v", err)
	}
	res, err := r.Run(ctx, m.ref, m.plan, apply.Options{AtPause: true})
	if err != nil || res.Outcome != event.AtPause || m.images(t)["web:2"] != 2 {
		t.Fatalf("%+v, %v, %v", res, err, m.images(t))
	}
	list, _, err := r.List(ctx, "shop")
	if err != nil || len(list) != 1 || list[0].State() != plan.StateRunning || list[0].Plan.Target.Name != "web" {
		t.Errorf("%+v, %v", list, err)
	}

	// Another plan has to wait, and the refusal says for what.
	_, err = r.Run(ctx, m.ref, m.plan, apply.Options{})
	refused, ok := errors.AsType[*plan.TransitionError](err)
	if !ok || refused.Transition != plan.TransitionBegin || !strings.HasPrefix(err.Error(), "cloneset/web has a rollout already: ") || refused.Hint == "" {
		t.Errorf("%v", err)
	}
	if _, err := r.Undo(ctx, m.ref, plan.Policy{}, apply.Options{}); err == nil {
		t.Error("it is undone while it is in flight")
	}

	rec, err := r.Pause(ctx, m.ref)
	if err != nil || rec.State() != plan.StateHeld || !strings.HasPrefix(rec.Progress.PausedBy, "by ann at ") {
		t.Errorf("%+v, %v", rec.Progress, err)
	}
	// Promoting ends the hold: it is no longer there when the next step is.
	if rec, err = r.Promote(ctx, m.ref, plan.Promotion{}); err != nil || rec.Progress.PausedBy != "" || !rec.Progress.Promoted {
		t.Errorf("%+v, %v", rec.Progress, err)
	}
	if res, err = r.Drive(ctx, m.ref, apply.Options{AtPause: true}); err != nil || res.Outcome != event.AtPause || m.images(t)["web:2"] != 4 {
		t.Fatalf("%+v, %v, %v", res, err, m.images(t))
	}
	if _, err = r.Promote(ctx, m.ref, plan.Promotion{Full: true}); err != nil {
		t.Fatal(err)
	}
	if res, err = r.Drive(ctx, m.ref, apply.Options{}); err != nil || res.Outcome != event.Completed || m.images(t)["web:2"] != 6 {
		t.Fatalf("%+v, %v, %v", res, err, m.images(t))
	}
	if _, err = r.Abort(ctx, m.ref); err == nil {
		t.Error("what is done is aborted")
	}
	if res, err = r.Undo(ctx, m.ref, plan.Policy{}, apply.Options{}); err != nil || res.Outcome != event.Completed || m.images(t)["web:1"] != 6 {
		t.Errorf("%+v, %v, %v", res, err, m.images(t))
	}
	if m.opened != 0 || m.holder != "" || m.announce == 0 {
		t.Errorf("%d are open, %q holds it, %d events were announced", m.opened, m.holder, m.announce)
	}
}

// TestRollouts_RollBack: an aborted rollout goes back, one that is done too, and where no
// pod was updated there is nothing to do.
func TestRollouts_RollBack(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%"), Pull: plan.PullNever})
	ctx := t.Context()
	if _, err := r.Run(ctx, m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
		t.Fatal(err)
	}
	rec, err := r.Abort(ctx, m.ref)
	if err != nil || rec.Progress.Failed != "aborted by ann" {
		t.Errorf("%+v, %v", rec.Progress, err)
	}
	if res, err := r.Drive(ctx, m.ref, apply.Options{}); err != nil || res.Outcome != event.Failed || res.Reason != "aborted by ann" {
		t.Errorf("an aborted rollout continues: %+v, %v", res, err)
	}
	res, err := r.RollBack(ctx, m.ref, apply.Options{})
	if err != nil || res.Outcome != event.RolledBack || m.images(t)["web:1"] != 6 {
		t.Errorf("%+v, %v, %v", res, err, m.images(t))
	}
	again, err := r.RollBack(ctx, m.ref, apply.Options{})
	if err != nil || m.images(t)["web:2"] != 6 || again.Outcome != event.RolledBack {
		t.Errorf("the way back is taken back: %+v, %v, %v", again, err, m.images(t))
	}
	if m.holder != "" || m.opened != 0 {
		t.Errorf("%q holds it, %d are open", m.holder, m.opened)
	}
}

// TestRollouts_RollBackTwiceGoesBackOnce: a rollback that was interrupted, paused or has failed is not rolled back itself, which
// would bring the new template out again; it is continued.
func TestRollouts_RollBackTwiceGoesBackOnce(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%"), Pull: plan.PullNever})
	ctx := t.Context()
	if _, err := r.Run(ctx, m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
		t.Fatal(err)
	}
	if res, err := r.RollBack(ctx, m.ref, apply.Options{Until: m.Now()}); err != nil || res.Outcome != event.TimedOut {
		t.Fatalf("%+v, %v", res, err)
	}
	refused := func(want, hint string) {
		t.Helper()
		_, err := r.RollBack(ctx, m.ref, apply.Options{})
		if e, ok := errors.AsType[*plan.TransitionError](err); !ok || !strings.Contains(e.Msg, want) || !strings.Contains(e.Hint, hint) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused("cloneset/web is being rolled back already", "rollout resume cloneset/web -n shop' continues it")
	_, err := r.Pause(ctx, m.ref)
	must(t, err)
	refused("cloneset/web is being rolled back already", "rollout resume cloneset/web -n shop' continues it")
	_, err = r.Abort(ctx, m.ref)
	must(t, err)
	refused("the rollback has failed: aborted by ann", "rollout retry cloneset/web -n shop'")
	_, err = r.Retry(ctx, m.ref)
	must(t, err)
	_, err = r.Resume(ctx, m.ref) // it is paused as it was
	must(t, err)
	if res, err := r.Drive(ctx, m.ref, apply.Options{}); err != nil || res.Outcome != event.RolledBack || m.images(t)["web:1"] != 6 {
		t.Errorf("%+v, %v, %v", res, err, m.images(t))
	}
}

// waiting is a workload whose Lease another process holds until something was done.
type waiting struct {
	apply.Workload
	until func()
}

// Hold is that of [apply.Workload].
func (w waiting) Hold(ctx context.Context, told func(holder string)) (held context.Context, release func(), err error) {
	w.until()
	return w.Workload.Hold(ctx, told)
}

// TestRollouts_RollBackIsNotRolledBackByAWaitingOne: a process that asks for a rollback while another one carries it out
// waits for the Lease, and what is completed then is the rollback.
func TestRollouts_RollBackIsNotRolledBackByAWaitingOne(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%"), Pull: plan.PullNever})
	ctx := t.Context()
	if _, err := r.Run(ctx, m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
		t.Fatal(err)
	}
	if res, err := r.RollBack(ctx, m.ref, apply.Options{Until: m.Now()}); err != nil || res.Outcome != event.TimedOut {
		t.Fatalf("%+v, %v", res, err)
	}
	w, err := r.Workloads.Open(ctx, m.ref)
	must(t, err)
	e, err := r.Rollback(ctx, waiting{w, func() {
		if res, err := r.Drive(ctx, m.ref, apply.Options{}); err != nil || res.Outcome != event.RolledBack {
			t.Fatalf("%+v, %v", res, err)
		}
	}}, "aborted by ben")
	if _, ok := errors.AsType[*plan.TransitionError](err); !ok {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestRollouts_ResumeGivesAStepItsWholeTime: a step that was on hold for longer than it may take has all its
// time when it is resumed or promoted, and when another process takes it over.
func TestRollouts_ResumeGivesAStepItsWholeTime(t *testing.T) {
	for name, resume := range map[string]func(library, *memory) error{
		"resumed": func(r library, m *memory) error { _, err := r.Resume(t.Context(), m.ref); return err },
		"promoted in advance": func(r library, m *memory) error {
			_, err := r.Promote(t.Context(), m.ref, plan.Promotion{Full: true})
			return err
		},
	} {
		r, m := unready(t)
		_, err := r.Pause(t.Context(), m.ref)
		must(t, err)
		must(t, m.Run(m.Now().Add(time.Hour)))
		must(t, resume(r, m))
		lastsFor(t, name, r, m, 5*time.Minute)
	}
	r, m := unready(t)
	must(t, m.Run(m.Now().Add(time.Hour)))
	_, err := r.Change(t.Context(), m.ref, apply.Act{})
	must(t, err)
	lastsFor(t, "taken over", r, m, 5*time.Minute)

	r, m = unready(t)
	must(t, m.Run(m.Now().Add(time.Hour)))
	lastsFor(t, "left alone", r, m, 5*time.Minute)
	_, err = r.Retry(t.Context(), m.ref)
	must(t, err)
	lastsFor(t, "retried", r, m, 5*time.Minute)
}

// unready is a rollout in a step that does not end, and may take five minutes.
func unready(t *testing.T) (library, *memory) {
	t.Helper()
	o := simulate.DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		return simulate.Override{Unready: p.Containers[0].Image == "web:2"}
	}
	r, m := rollouts(t, cloneSet, o, plan.Policy{Steps: steps(t, "2", "100%"), Timeout: plan.Duration(5 * time.Minute), Pull: plan.PullNever})
	if res, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{Until: m.Now().Add(time.Minute)}); err != nil || res.Outcome != event.TimedOut {
		t.Fatalf("%+v, %v", res, err)
	}
	return r, m
}

func lastsFor(t *testing.T, name string, r library, m *memory, want time.Duration) {
	t.Helper()
	began := m.Now()
	res, err := r.Drive(t.Context(), m.ref, apply.Options{})
	if took := m.Now().Sub(began); err != nil || res.Outcome != event.Failed || took != want {
		t.Errorf("%s: %+v, %v after %s, want %s", name, res.Outcome, err, took, want)
	}
}

// TestRollouts_RefuseWhatCannotRun: what cannot be driven is not begun, and lets go of what it held.
func TestRollouts_RefuseWhatCannotRun(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%")})
	ctx := t.Context()
	m.denied = errors.New("you may not patch clonesets")
	_, err := r.Run(ctx, m.ref, m.plan, apply.Options{})
	if denied, ok := errors.AsType[*apply.DeniedError](err); !ok || !errors.Is(err, m.denied) || denied.Error() != m.denied.Error() || m.rec != nil {
		t.Errorf("%v, %+v", err, m.rec)
	}
	m.denied, m.holder = nil, "ben"
	if _, err := r.Run(ctx, m.ref, m.plan, apply.Options{}); !errors.Is(err, plan.ErrOtherExecutor) || m.rec != nil {
		t.Errorf("%v, %+v", err, m.rec)
	}
	if by, err := r.Holder(ctx, m.ref); err != nil || by != "ben" {
		t.Errorf("%q, %v", by, err)
	}
	m.holder = ""
	for name, drive := range map[string]func() error{
		"drive":     func() error { _, err := r.Drive(ctx, m.ref, apply.Options{}); return err },
		"roll back": func() error { _, err := r.RollBack(ctx, m.ref, apply.Options{}); return err },
		"retry":     func() error { _, err := r.Retry(ctx, m.ref); return err },
	} {
		if err := drive(); !errors.Is(err, plan.ErrNoRollout) || m.holder != "" || m.opened != 0 {
			t.Errorf("%s of none: %v, %q holds it, %d are open", name, err, m.holder, m.opened)
		}
	}
	if _, err := r.Run(ctx, cluster.Ref{Kind: "CloneSet", Name: "none"}, m.plan, apply.Options{}); !errors.Is(err, plan.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestRollouts_RefuseAChangedRecord: a change is refused where the record is not what it was asked for,
// as it is when it is written, and nothing is written then.
func TestRollouts_RefuseAChangedRecord(t *testing.T) {
	r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%")})
	ctx := t.Context()
	if _, err := r.Run(ctx, m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
		t.Fatal(err)
	}
	meddle := func() { _, err := r.Pause(ctx, m.ref); must(t, err) }
	rec, err := r.Get(ctx, m.ref)
	must(t, err)
	resume := apply.Act{Transition: plan.TransitionResume}
	resume.Confirmed = resume.Means(rec)
	m.meddles = meddle
	if _, err := r.Do(ctx, m.ref, resume); !errors.Is(err, apply.ErrChanged) {
		t.Errorf("%v", err)
	}
	rec, err = r.Get(ctx, m.ref)
	if err != nil || rec.State() != plan.StateHeld || rec.Progress.Promoted {
		t.Errorf("%+v, %v", rec.Progress, err)
	}
	// Without it, the change is made of what the other one has left.
	must(t, m.Record(ctx, m.ref, rec.Version, plan.Progress{Step: rec.Progress.Step, Started: rec.Progress.Started}))
	m.meddles = meddle
	if rec, err = r.Abort(ctx, m.ref); err != nil || rec.Progress.PausedBy == "" || rec.Progress.Failed != "aborted by ann" {
		t.Errorf("%+v, %v", rec.Progress, err)
	}
}

// TestRollouts_DoDecidesWhoCarriesItOut: an act changes the record, and the caller carries on where no
// other process does and it may; a refusal changes nothing.
func TestRollouts_DoDecidesWhoCarriesItOut(t *testing.T) {
	denied := errors.New("you may not patch clonesets")
	promote := apply.Act{Transition: plan.TransitionPromote, Continues: true}
	for name, c := range map[string]struct {
		holder   string
		denied   error
		act      apply.Act
		executor bool
		where    error
	}{
		"none drives it":           {act: promote, executor: true},
		"another process does":     {holder: "ben", act: promote, where: plan.ErrOtherExecutor},
		"who may only decide":      {denied: denied, act: promote, where: denied},
		"decides beside a process": {holder: "ben", denied: denied, act: promote, where: denied},
		"nothing is carried out":   {act: apply.Act{Transition: promote.Transition}},
	} {
		t.Run(name, func(t *testing.T) {
			r, m := rollouts(t, cloneSet, simulate.DefaultOptions(), plan.Policy{Steps: steps(t, "2+pause", "100%")})
			if _, err := r.Run(t.Context(), m.ref, m.plan, apply.Options{AtPause: true}); err != nil {
				t.Fatal(err)
			}
			m.holder, m.denied = c.holder, c.denied
			done, err := r.Do(t.Context(), m.ref, c.act)
			must(t, err)
			if !done.Record.Progress.Promoted {
				t.Errorf("not promoted: %+v", done.Record.Progress)
			}
			if (done.Executor != nil) != c.executor || (done.Workload != nil) != c.executor || !errors.Is(done.Elsewhere, c.where) {
				t.Errorf("executor %v, elsewhere %v", done.Executor, done.Elsewhere)
			}
			if !c.executor {
				if m.opened != 0 || m.holder != c.holder {
					t.Errorf("%d are open, %q holds it", m.opened, m.holder)
				}
				return
			}
			if res, err := done.Executor.Run(apply.Options{}); err != nil || res.Outcome != event.Completed {
				t.Errorf("%+v, %v", res, err)
			}
			if _, err := r.Do(t.Context(), m.ref, c.act); err == nil {
				t.Error("a rollout that is done was promoted")
			}
			if done.Workload.Close(); m.opened != 0 || m.holder != "" {
				t.Errorf("%d are open, %q holds it", m.opened, m.holder)
			}
		})
	}
}
