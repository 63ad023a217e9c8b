package plan

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	core "github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// run is a simulation. It never changes.
type run struct {
	plan core.Plan
	line simulate.Timeline
	// err is why the plan cannot finish, or why there is no simulation.
	err error
	// asOf is when the cluster was as the simulation begins.
	asOf time.Time
	// from is the step that was under way then.
	from int
	// told are the records for people, in order.
	told []simulate.Record
}

// predicted is a simulation that is done.
type predicted struct {
	asked *turnOf
	run   *run
}

// predict simulates what is left of a plan, away from the thread that draws: with pods
// that behave, and pauses that somebody promotes at once. A plan that is given begins
// with its first step.
func predict(asked *turnOf, d *world.Detail, given *core.Plan) screen.After {
	return screen.Later(func() tea.Msg {
		o, now := simulate.Usual(), d.Snapshot
		o.Gates, o.Start = now.Gates, d.Now
		r := &run{plan: d.Plan, asOf: d.Now}
		if given != nil {
			r.plan, now.Progress = *given, core.Progress{}
		}
		r.from = now.Progress.Step
		r.line, r.err = simulate.Continue(r.plan, now, o)
		for _, rec := range r.line.Records {
			if _, told := rec.Op.Word(); told {
				r.told = append(r.told, rec)
			}
		}
		return predicted{asked, r}
	})
}

// lasts is how long the whole takes.
func (r *run) lasts() time.Duration { return r.line.Summary.Duration }

// at is how the pods stand at a time.
func (r *run) at(t time.Duration) simulate.Sample {
	i, found := slices.BinarySearchFunc(r.line.Samples, t, func(s simulate.Sample, t time.Duration) int { return int(s.At - t) })
	switch {
	case found:
		return r.line.Samples[i]
	case i == 0:
		return simulate.Sample{}
	}
	return r.line.Samples[i-1]
}

// stepAt is the index of the step that is under way at a time, -1 before the first.
func (r *run) stepAt(t time.Duration) int {
	at := -1
	for _, m := range r.line.Steps {
		if m.Begin <= t {
			at = m.Index
		}
	}
	return at
}

// mark is when a step begins and ends; ok is false for one that is not reached.
func (r *run) mark(step int) (m simulate.StepMark, ok bool) {
	i := slices.IndexFunc(r.line.Steps, func(m simulate.StepMark) bool { return m.Index == step })
	if i < 0 {
		return m, false
	}
	return r.line.Steps[i], true
}

// until are the records up to a time.
func (r *run) until(t time.Duration) []simulate.Record {
	i, _ := slices.BinarySearchFunc(r.told, t+1, func(rec simulate.Record, t time.Duration) int { return int(rec.At - t) })
	return r.told[:i]
}
