package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// groupDriver is what the verbs have in common that carry groups out.
type groupDriver struct{ *driving }

func (d *driving) groupDriver() groupDriver { return groupDriver{d} }

// groupOfRun is `rollout run` for several workloads that are rolled out together.
type groupOfRun struct{ *runOptions }

// run rolls them out.
func (o groupOfRun) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	end, err := o.share(ctx)
	if err != nil {
		return err
	}
	defer end()
	g, err := o.makeAll(ctx)
	if g != nil {
		defer g.close()
	}
	if err != nil || len(g.parts) == 0 {
		return err
	}
	if err := o.groupDriver().show(g); err != nil {
		return err
	}
	switch {
	case o.detach.manifest:
		return o.printManifest(ctx, g)
	case o.dry().Only():
		return errors.Join(o.preview(ctx, g), o.previewJob(ctx, g))
	}
	for _, p := range g.parts {
		if err := o.allowNamedCommands(&p.plan); err != nil {
			return err
		}
	}
	if err := o.ask(ctx, o.yes, fmt.Sprintf("Roll out %s as group %s?", counted.Of(len(g.parts), "workload"), g.record.Name)); err != nil {
		return err
	}
	if o.detach.on {
		return o.detachAll(ctx, g)
	}
	rec := g.record
	res, err := o.groupDriver().begin(ctx, g)
	if err != nil {
		return err
	}
	return o.groupDriver().end(rec, res)
}

// check refuses flags that are for one workload. Errors are of usage.
func (o groupOfRun) check() error {
	switch {
	case o.ui:
		return oneOnScreens()
	case o.into != "":
		return command.Usagef("roll the workloads out without the flags of a group", "--write-back is for one workload at a time")
	case o.selector == "" && len(o.Sources()) == 0:
		return command.Usagef("give -l SELECTOR, -f FILE or -k DIR", "--%s are for several workloads", strings.Join(groupFlagNames, ", --"))
	}
	return o.tells.checkGroup()
}

// show shows every plan, and then the order of all.
func (d groupDriver) show(g *madeGroup) error {
	w, style := d.factory.Streams.Err, view.Style{Color: d.factory.ColorErr()}
	for _, p := range g.parts {
		if p.begun {
			_, _ = fmt.Fprintf(w, "the rollout of %s that is in progress continues\n", p.ref())
		}
		if err := view.Plan(w, p.plan, &p.made.Predicted.Summary, style); err != nil {
			return err
		}
	}
	var rows []view.GroupMember
	for _, m := range g.record.Group.Members {
		row := view.GroupMember{Namespace: m.Ref.Namespace, Name: g.record.Group.Name(m.Ref), Wave: m.Wave}
		var needs []string
		for _, ref := range m.DependsOn {
			needs = append(needs, g.record.Group.Name(ref))
		}
		row.DependsOn = strings.Join(needs, ", ")
		rows = append(rows, row)
	}
	return view.GroupPlan(w, rows, g.line, d.factory.ErrStyle())
}

// preview shows the requests of all rollouts.
func (o groupOfRun) preview(ctx context.Context, g *madeGroup) error {
	var list []event.Request
	for _, p := range g.parts {
		more, err := p.session.requests(p.plan, p.made.Acts)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	return o.show(ctx, list)
}

// begin records a group and carries it out.
func (d groupDriver) begin(ctx context.Context, g *madeGroup) (apply.GroupResult, error) {
	known := &groupApprovals{approvals: approvals{d.common}}
	if err := known.approve(ctx, g); err != nil {
		return apply.GroupResult{}, err
	}
	groups, err := d.groups(known, g.opened())
	if err != nil {
		return apply.GroupResult{}, err
	}
	opt, stop, err := d.options(ctx, g.record)
	if err != nil {
		return apply.GroupResult{}, err
	}
	defer stop()
	g.parts = nil // the run closes them
	res, err := groups.Begin(ctx, g.record, &opt)
	if err != nil {
		return res, groupHinted(g.record.Name, err)
	}
	return res, nil
}

// options report a group as the flags say; stop ends that.
func (d groupDriver) options(ctx context.Context, rec group.Record) (opt apply.GroupOptions, stop func(), err error) {
	hooks, err := d.hooksOf(ctx)
	if err != nil {
		return opt, nil, err
	}
	d.factory.Until(time.Time{}) // from here on the group minds the time
	var r groupReader = &groupJSON{json.NewEncoder(d.factory.Streams.Out)}
	if !d.machine() {
		r = &view.GroupLines{Out: d.factory.Streams.Out, Style: d.factory.OutStyle(false), Name: func(w event.Workload) string {
			return rec.Group.Name(cluster.Ref{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name})
		}}
	}
	t := newEventPrinter(r, lineBeat)
	return apply.GroupOptions{
		AtPause: d.atPause, Until: d.until(), Recorded: hooks.recorded,
		Budgets: func(list []plan.Snapshot) []group.Budget {
			members := make([]simulate.GroupMember, len(list))
			for i := range list {
				members[i] = simulate.GroupMember{Plan: rec.Plans[i], Snapshot: list[i]}
			}
			return simulate.SharedBudgets(members)
		},
		Emit: func(e event.Event) { t.event(e); hooks.event(e) },
		Report: func(s apply.GroupStatus) {
			t.mu.Lock()
			defer t.mu.Unlock()
			r.Stands(time.Now(), groupStatus(rec, s))
		},
	}, func() { t.stop(); hooks.close() }, nil
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

func groupStatus(rec group.Record, s apply.GroupStatus) view.GroupStatus {
	out := view.GroupStatus{
		Namespace: rec.Namespace, Name: rec.Name, Outcome: string(s.Outcome), Reason: s.Reason, Paused: rec.Paused, Aborted: rec.Aborted,
	}
	if rec.Back && s.Outcome == group.Done {
		out.Outcome = plan.StatusRolledBack
	}
	for _, m := range s.Members {
		if rec.Back {
			m.Wave = -m.Wave // as it was given: the way back goes through the waves in reverse
		}
		out.Members = append(out.Members, view.GroupMember{
			Namespace: m.Ref.Namespace, Name: rec.Group.Name(m.Ref), Wave: m.Wave, Phase: phaseText(rec, m), Reason: m.Reason,
		})
	}
	return out
}

// phaseText is the phase of a member in a word; of a group that is rolled back, what completed means for it.
func phaseText(rec group.Record, m apply.MemberStatus) string {
	switch {
	case m.Untouched:
		return "not started"
	case rec.Back && m.Phase == group.Completed:
		return plan.StatusRolledBack
	}
	return string(m.Phase)
}

// end reports how a group ended, member by member.
func (d groupDriver) end(rec group.Record, res apply.GroupResult) error {
	if !d.machine() {
		s := groupStatus(rec, res.GroupStatus)
		if res.Ended != event.Completed && res.Ended != event.RolledBack && s.Outcome == string(group.InProgress) {
			s.Outcome = string(res.Ended)
		}
		if err := view.Group(d.factory.Streams.Out, s, d.factory.OutStyle(false)); err != nil {
			return err
		}
	}
	if res.Ended == event.RolledBack {
		return nil // that is what was asked for
	}
	return d.driving.end(apply.Result{Outcome: res.Ended, Reason: res.Reason})
}
