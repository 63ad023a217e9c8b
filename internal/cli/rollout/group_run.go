package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// runGroup rolls several workloads out together.
func (o *runOptions) runGroup(ctx context.Context) error {
	switch {
	case o.ui:
		return oneOnScreens()
	case o.into != "":
		return command.Usagef("roll the workloads out without the flags of a group", "--write-back is for one workload at a time")
	case o.selector == "" && len(o.Sources()) == 0:
		return command.Usagef("give -l SELECTOR, -f FILE or -k DIR", "--%s are for several workloads", strings.Join(groupFlagNames, ", --"))
	}
	end, err := o.share(ctx)
	if err != nil {
		return err
	}
	defer end()
	g, err := o.makeGroup(ctx)
	if g != nil {
		defer func() {
			for _, p := range g.parts {
				p.run.session.Close()
			}
		}()
	}
	if err != nil || len(g.parts) == 0 {
		return err
	}
	if err := o.showGroup(g); err != nil {
		return err
	}
	if o.dry().Only() {
		return o.pretendGroup(ctx, g)
	}
	for _, p := range g.parts {
		if err := o.typed(&p.plan); err != nil {
			return err
		}
	}
	if err := o.ask(ctx, o.yes, fmt.Sprintf("Roll out these %d workloads as group %s?", len(g.parts), g.record.Name)); err != nil {
		return err
	}
	return o.carryGroup(ctx, g)
}

// showGroup shows every plan, and then the order of all.
func (o *runOptions) showGroup(g *madeGroup) error {
	w, style := o.factory.Streams.Err, view.Style{Color: o.factory.ColorErr()}
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
	return view.GroupPlan(w, rows, g.line, style)
}

func (o *runOptions) pretendGroup(ctx context.Context, g *madeGroup) error {
	var list []event.Request
	for _, p := range g.parts {
		more, err := p.run.session.requests(p.plan, p.made.Acts)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	return o.show(ctx, list)
}

// carryGroup puts the group on record and carries it out.
func (o *runOptions) carryGroup(ctx context.Context, g *madeGroup) error {
	known := &groupApprovals{approvals: approvals{o.common}}
	if err := known.approve(ctx, g); err != nil {
		return err
	}
	groups, err := o.groups(known, g.opened())
	if err != nil {
		return err
	}
	opt, stop := o.groupOptions(g.record)
	opt.Budgets = g.budgets
	res, err := groups.Begin(ctx, g.record, &opt)
	stop()
	g.parts = nil // the run has closed them
	if err != nil {
		return groupHinted(err)
	}
	return o.endGroup(g.record, res)
}

// groupOptions tell of a group as the flags say; stop ends that.
func (d *driving) groupOptions(rec group.Record) (opt apply.GroupOptions, stop func()) {
	d.factory.Until(time.Time{}) // from here on the group minds the time
	var r groupReader = &groupJSON{json.NewEncoder(d.factory.Streams.Out)}
	if !d.machine() {
		r = &view.GroupLines{Out: d.factory.Streams.Out, Style: d.factory.OutStyle(false), Name: func(w event.Workload) string {
			return rec.Group.Name(cluster.Ref{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name})
		}}
	}
	t := newTeller(r, lineBeat)
	return apply.GroupOptions{
		AtPause: d.atPause, Until: d.until(), Emit: t.event,
		Tell: func(s apply.GroupStanding) {
			t.mu.Lock()
			defer t.mu.Unlock()
			r.Stands(time.Now(), groupStatus(rec, s))
		},
	}, t.stop
}

// groupReader takes in what a group tells.
type groupReader interface {
	reader
	Stands(at time.Time, s view.GroupStatus)
}

// groupJSON is one event a line; how the group stands is one of type group.
type groupJSON struct{ to *json.Encoder }

// Event writes an event of one rollout.
func (j *groupJSON) Event(e event.Event) { _ = j.to.Encode(e) }

// Beat writes nothing.
func (j *groupJSON) Beat(time.Time) {}

// Stands writes how the group stands.
func (j *groupJSON) Stands(at time.Time, s view.GroupStatus) {
	_ = j.to.Encode(struct {
		Time  time.Time        `json:"time"`
		Type  string           `json:"type"`
		Group view.GroupStatus `json:"group"`
	}{at, "group", s})
}

func groupStatus(rec group.Record, s apply.GroupStanding) view.GroupStatus {
	out := view.GroupStatus{
		Namespace: rec.Namespace, Name: rec.Name, Outcome: string(s.Outcome), Reason: s.Reason, Paused: rec.Paused, Aborted: rec.Aborted,
	}
	for _, m := range s.Members {
		out.Members = append(out.Members, view.GroupMember{
			Namespace: m.Ref.Namespace, Name: rec.Group.Name(m.Ref), Wave: m.Wave, Phase: string(m.Phase), Reason: m.Reason,
		})
	}
	return out
}

// endGroup says how a group ended, member by member.
func (d *driving) endGroup(rec group.Record, res apply.GroupResult) error {
	if !d.machine() {
		s := groupStatus(rec, res.GroupStanding)
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
	return d.end(apply.Result{Outcome: res.Ended, Reason: res.Reason})
}

// groupApprovals know the plans of a group that the user has approved as a whole, and those
// that approvals know.
type groupApprovals struct {
	approvals

	mu sync.Mutex
	// digests are those of the plans.
	digests []string
}

// Approve does nothing more: the group was approved.
func (a *groupApprovals) Approve(context.Context, plan.Plan) error { return nil }

// Approved reports whether the plan is one of the group's, or approved by itself.
func (a *groupApprovals) Approved(ctx context.Context, p plan.Plan) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	digests, err := a.approvals.digests(ctx, p)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(digests, func(d string) bool { return slices.Contains(a.digests, d) }) {
		return true, nil
	}
	known, err := planning.IsApproved(digests)
	if err != nil {
		_, _ = fmt.Fprintf(a.factory.Streams.Err, "warning: this machine's approvals cannot be read: %v\n", err)
	}
	return known, nil
}

// TakeOver asks one question at a time.
func (a *groupApprovals) TakeOver(ctx context.Context, t apply.TakeOver) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.approvals.TakeOver(ctx, t)
}

// clusters are the identities of the cluster.
func (a *groupApprovals) clusters(ctx context.Context) ([]string, error) {
	cfg, err := a.factory.Config()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return nil, err
	}
	return planning.ClusterIdentities(ctx, client, cfg), nil
}

// approve prints the digest of a group that the user has approved, and keeps it with those of
// its plans.
func (a *groupApprovals) approve(ctx context.Context, g *madeGroup) error {
	clusters, err := a.clusters(ctx)
	if err != nil {
		return err
	}
	digest := g.record.Digest(clusters[0])
	_, _ = fmt.Fprintf(a.factory.Streams.Err, "group %s approved: %s\n", g.record.Name, digest)
	notes := []planning.Approval{{Digest: digest, Target: "group " + g.record.Name, At: time.Now().UTC()}}
	for i, p := range g.parts {
		if p.begun {
			continue // its plan is on record: whether it was approved is known by its own digest
		}
		one := g.record.Plans[i].Digest(clusters[0])
		a.digests = append(a.digests, one)
		notes = append(notes, planning.Approval{Digest: one, Target: p.ref().String(), At: time.Now().UTC()})
	}
	for _, n := range notes {
		if err := planning.RememberApproval(n); err != nil {
			_, _ = fmt.Fprintf(a.factory.Streams.Err, "warning: the approval is not kept on this machine: %v\n", err)
			break
		}
	}
	return nil
}

// take decides whether a group on record may be carried out: it was approved on this machine
// or is named by --approved; otherwise the user is shown what has not begun, and asked.
func (a *groupApprovals) take(ctx context.Context, rec group.Record, groups apply.Groups) error {
	approved, err := a.knows(ctx, rec)
	if err == nil && !approved {
		err = a.askFor(ctx, rec, groups)
	}
	if err != nil {
		return err
	}
	clusters, err := a.clusters(ctx)
	if err != nil {
		return err
	}
	for _, p := range rec.Plans {
		for _, id := range clusters {
			a.digests = append(a.digests, p.Digest(id))
		}
	}
	return nil
}

// knows reports whether the user has approved this very group; the error is that --approved
// names another one.
func (a *groupApprovals) knows(ctx context.Context, rec group.Record) (bool, error) {
	clusters, err := a.clusters(ctx)
	if err != nil {
		return false, err
	}
	var digests []string
	for _, id := range clusters {
		digests = append(digests, rec.Digest(id))
	}
	switch given := a.authority.digest; {
	case given != "" && !slices.Contains(digests, given):
		return false, &resource.Error{Err: fmt.Errorf("the recorded group is %s, not %s", digests[0], given), Hint: "'kubectl kruise rollout status --group " + rec.Name + "' shows it: it may have been edited"}
	case given != "":
		return true, nil
	}
	known, err := planning.IsApproved(digests)
	if err != nil {
		_, _ = fmt.Fprintf(a.factory.Streams.Err, "warning: this machine's approvals cannot be read: %v\n", err)
	}
	return known, nil
}

// askFor shows what has not begun of a group, as its patches describe it, and asks.
func (a *groupApprovals) askFor(ctx context.Context, rec group.Record, groups apply.Groups) error {
	if !a.factory.Streams.InTTY {
		return &resource.Error{
			Err:  errors.New("the recorded group is not one that you approved on this machine"),
			Hint: "look at it with 'kubectl kruise rollout status --group " + rec.Name + "'; if it is what you approved, name it with --approved DIGEST, as 'rollout run' printed it",
		}
	}
	w, style := a.factory.Streams.Err, view.Style{Color: a.factory.ColorErr()}
	_, _ = fmt.Fprintf(w, "The recorded group was not approved on this machine. Its limits: %s. Its rollouts that have not started:\n\n", limitsText(rec.Group.Limits))
	for i, p := range rec.Plans {
		one, err := groups.Rollouts.Get(ctx, rec.Group.Members[i].Ref)
		if err != nil && !errors.Is(err, plan.ErrNoRollout) {
			return err
		}
		if phase, _ := rec.Stands(i, one, err == nil); phase != group.Pending {
			continue
		}
		if err := a.commands(p.Commands(0), "the recorded plan"); err != nil {
			return err
		}
		if p, err = a.described(ctx, p); err != nil {
			return err
		}
		if err := view.Plan(w, p, nil, style); err != nil {
			return err
		}
	}
	return a.ask(ctx, a.authority.yes, "Carry this out with your rights?")
}

// described is a plan as its patches describe it; one that says something else is an error.
func (a *groupApprovals) described(ctx context.Context, p plan.Plan) (plan.Plan, error) {
	s, err := a.openRef(ctx, p.Target.Ref())
	if err != nil {
		return p, err
	}
	defer s.Close()
	p, _, err = fits(ctx, s, p)
	return p, err
}

func limitsText(l group.Limits) string {
	bound := func(n int) string {
		if n == 0 {
			return "any number of"
		}
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s rollouts at a time, %s unavailable pods, %d failures", bound(l.Parallel), bound(l.MaxUnavailable), l.MaxFailures)
}
