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
	// from is the step that was current then.
	from int
	// visible are the records for people, in order.
	visible []simulate.Record
}

// prediction is a simulation that is done.
type prediction struct {
	request *request
	run     *run
}

// predict simulates what is left of a plan, away from the thread that draws: pods that have
// the new template become ready unless they fail, others stay as they are, and pauses are promoted at once. A plan that is given begins
// with its first step.
func predict(of *request, d *world.Detail, given *core.Plan) screen.After {
	return screen.Later(func() tea.Msg {
		o, now := simulate.DefaultOptions(), d.Snapshot
		o.Gates, o.Start = now.Gates, d.Now
		r := &run{plan: d.Plan, asOf: d.Now}
		if given != nil {
			r.plan, now.Progress = *given, core.Progress{}
		}
		updated := core.UpdatedTest(r.plan, now)
		o.Recover = map[string]bool{}
		for _, p := range now.Pods {
			_, fails := core.NotReadyReason(now, p)
			o.Recover[p.UID] = updated(p) && !fails
		}
		r.from = now.Progress.Step
		r.line, r.err = simulate.Continue(r.plan, now, o)
		for _, rec := range r.line.Records {
			if _, visible := rec.Op.Word(); visible {
				r.visible = append(r.visible, rec)
			}
		}
		return prediction{of, r}
	})
}

// duration is the duration of the simulation.
func (r *run) duration() time.Duration { return r.line.Summary.Duration }

// at is the state of the pods at a time.
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

// stepAt is the index of the current step at a time, -1 before the first.
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

// player is where in a simulation one is. Its time is that of the simulation.
type player struct {
	at      time.Duration
	playing bool
	// speed is how many seconds of the simulation a second shows.
	speed int
	// frame tells the requested frame from those of before, changes counts
	// changes of the world since then.
	frame   *request
	changes int
}

// request is the identity of a requested frame or simulation: another
// screen may be about the same workload.
type request struct{ _ byte }

// frame reports that the time of one has gone by.
type frame struct{ of *request }

const (
	// frameDuration is how long a frame is shown.
	frameDuration = 100 * time.Millisecond
	// fastest is the highest speed; all are powers of two.
	fastest = 4096
	// defaultPlayTime is how long a whole simulation takes to be played, about, unless a user
	// says otherwise.
	defaultPlayTime = 20 * time.Second
	// scrubSteps is in how many steps the left and right keys go through all of it.
	scrubSteps = 50
)

// speedFor is the speed at which a simulation is played within the usual time.
func speedFor(duration time.Duration) int {
	speed := 1
	for speed < fastest && duration > defaultPlayTime*time.Duration(speed) {
		speed *= 2
	}
	return speed
}

// scrub moves in the time of the simulation by a key.
func (p player) scrub(r *run, key string) player {
	switch {
	case back.Is(key):
		p.at -= r.duration() / scrubSteps
	case ahead.Is(key):
		p.at += r.duration() / scrubSteps
	case before.Is(key):
		p.at = p.stepBefore(r)
	case after.Is(key):
		next := slices.IndexFunc(r.line.Steps, func(m simulate.StepMark) bool { return m.Begin > p.at })
		if p.at = r.duration(); next >= 0 {
			p.at = r.line.Steps[next].Begin
		}
	case first.Is(key):
		p.at = 0
	case last.Is(key):
		p.at = r.duration()
	case faster.Is(key):
		p.speed = min(p.speed*2, fastest)
	case slower.Is(key):
		p.speed = max(p.speed/2, 1)
	}
	p.at = min(max(p.at, 0), r.duration())
	return p
}

// stepBefore is when the step before began, or the present one where that was a while
// ago.
func (p player) stepBefore(r *run) time.Duration {
	at := time.Duration(0)
	for _, m := range r.line.Steps {
		if m.Begin < p.at {
			at = max(at, m.Begin)
		}
	}
	return at
}
