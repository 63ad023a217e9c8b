package execute

import (
	"context"
	"encoding/json"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// GroupOptions report a group as the flags say; stop ends that.
func (d *Execution) GroupOptions(ctx context.Context, rec plan.Rollout) (opt apply.GroupOptions, stop func(), err error) {
	hooks, err := d.hooksOf(ctx)
	if err != nil {
		return opt, nil, err
	}
	d.Factory.Until(time.Time{}) // from here on the group minds the time
	var r groupReader = &groupJSON{json.NewEncoder(d.Factory.Streams.Out)}
	if !d.Machine() {
		r = &view.GroupLines{Out: d.Factory.Streams.Out, Style: d.Factory.OutStyle(false), Rollout: rec}
	}
	report := &groupReport{newEventPrinter(r, lineBeat), hooks, r, rec}
	return apply.GroupOptions{
		AtPause: d.AtPause, Until: d.Until(), Reporter: report,
	}, func() { report.printer.Stop(); hooks.close() }, nil
}

// groupReport prints a group, and notifies others of it.
type groupReport struct {
	printer *eventPrinter
	hooks   *groupHooks
	reader  groupReader
	rec     plan.Rollout
}

// Recorded has others notified of this run.
func (r *groupReport) Recorded(rec plan.Rollout) { r.hooks.recorded(rec) }

// Event prints an event of one rollout, and has others notified of it.
func (r *groupReport) Event(e event.Event) {
	r.printer.Event(e)
	r.hooks.event(e)
}

// Status prints the status of the group.
func (r *groupReport) Status(s plan.RolloutStatus) {
	r.printer.mu.Lock()
	defer r.printer.mu.Unlock()
	r.reader.Stands(time.Now(), GroupStatus(r.rec, s))
}

// groupReader collects the events of a group.
type groupReader interface {
	reader
	Stands(at time.Time, s view.GroupStatus)
}

// groupJSON is one event a line; the status of the group is one of type group.
type groupJSON struct{ to *json.Encoder }

// Event writes an event of one rollout.
func (j *groupJSON) Event(e event.Event) { _ = j.to.Encode(e) }

// Beat writes nothing.
func (j *groupJSON) Beat(time.Time) {}

// Stands writes the status of the group.
func (j *groupJSON) Stands(at time.Time, s view.GroupStatus) {
	_ = j.to.Encode(struct {
		Time  time.Time        `json:"time"`
		Type  string           `json:"type"`
		Group view.GroupStatus `json:"group"`
	}{at, "group", s})
}

// GroupStatus is the status of a group as it is shown.
func GroupStatus(rec plan.Rollout, s plan.RolloutStatus) view.GroupStatus {
	out := view.GroupStatus{
		Namespace: rec.Namespace, Name: rec.Name, Outcome: string(s.Phase), Reason: s.Reason, Paused: rec.Paused, Aborted: rec.Aborted,
	}
	if rec.Back && s.Phase == plan.PhaseCompleted {
		out.Outcome = plan.StatusRolledBack
	}
	for _, m := range s.Members {
		if rec.Back {
			m.Wave = -m.Wave // as it was given: the way back goes through the waves in reverse
		}
		out.Members = append(out.Members, view.GroupMember{
			Namespace: m.Ref.Namespace, Name: rec.MemberName(m.Ref), Wave: m.Wave, Phase: phaseText(rec, m), Reason: m.Reason,
		})
	}
	return out
}

// phaseText is the phase of a member in a word; of a group that is rolled back, what completed means for it.
func phaseText(rec plan.Rollout, m plan.MemberStatus) string {
	switch {
	case m.Untouched:
		return "not started"
	case rec.Back && m.Phase == plan.PhaseCompleted:
		return plan.StatusRolledBack
	}
	return string(m.Phase)
}

// GroupEnded reports how a group ended, member by member.
func (d *Execution) GroupEnded(rec plan.Rollout, res apply.GroupResult) error {
	if !d.Machine() {
		s := GroupStatus(rec, res.RolloutStatus)
		if res.Ended != event.Completed && res.Ended != event.RolledBack && s.Outcome == string(plan.PhaseProgressing) {
			s.Outcome = string(res.Ended)
		}
		if err := view.Group(d.EventsTo(), s, d.Factory.OutStyle(false)); err != nil {
			return err
		}
	}
	if res.Ended == event.RolledBack {
		return nil // that is what was asked for
	}
	return d.Ending(apply.Result{Outcome: res.Ended, Reason: res.Reason})
}
