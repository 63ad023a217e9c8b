package rollout

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/group"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// groupPart is one workload of a group that is made.
type groupPart struct {
	session *session
	// desired is the new state, by which its wave and its dependencies are known.
	desired *resource.Resource
	made    *planning.Made
	plan    plan.Plan
	// begun indicates that its rollout is in progress already, before when another one was begun
	// that is recorded.
	begun  bool
	before time.Time
	wave   int
}

func (p *groupPart) ref() cluster.Ref { return p.session.target.Ref }

// newGroupPart is the part of a workload whose plan was made. One that has a rollout in
// progress which leads to the same state continues it, and another one is refused.
func (g *groupFlags) newGroupPart(s *session, desired *resource.Resource, made *planning.Made) (*groupPart, error) {
	p := &groupPart{session: s, desired: desired, made: made, plan: made.Plan}
	err := p.takeOverRecorded()
	if err == nil {
		p.wave, err = g.wave(desired)
	}
	return p, err
}

// idle reports whether a workload has nothing to roll out.
func (p *groupPart) idle() bool { return !p.begun && len(p.plan.Steps) == 0 }

// madeGroup is a group with what it is made from.
type madeGroup struct {
	parts   []*groupPart
	record  group.Record
	members []simulate.GroupMember
	budgets []group.Budget
	line    simulate.GroupTimeline
	// same are workloads that have nothing to roll out.
	same []cluster.Ref
}

// opened are the workloads that are open.
func (g *madeGroup) opened() map[cluster.Ref]*session {
	out := map[cluster.Ref]*session{}
	for _, p := range g.parts {
		out[p.ref()] = p.session
	}
	return out
}

// close ends the watches of the workloads.
func (g *madeGroup) close() {
	for _, p := range g.parts {
		p.session.Close()
	}
	g.parts = nil
}

// add takes a workload in; one that has nothing to roll out counts as completed.
func (g *madeGroup) add(p *groupPart) {
	if p.idle() {
		g.same = append(g.same, p.ref())
		p.session.Close()
		return
	}
	g.parts = append(g.parts, p)
}

// each is what the command line asks for, once for each workload.
func (o groupOfRun) each(ctx context.Context) ([]planning.One, error) {
	if o.selector == "" {
		list, err := o.Each(ctx)
		if err != nil || list != nil {
			return list, err
		}
		names, err := o.Workloads(ctx)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("there is no workload to roll out")
		}
		return []planning.One{{Options: o.For(names[0]), Name: names[0]}}, nil
	}
	names, err := o.selected(ctx, o.types, o.selector)
	var out []planning.One
	for _, n := range names {
		out = append(out, planning.One{Options: o.For(n), Name: n})
	}
	return out, err
}

// makeAll makes the plan of every workload, and the group of all. Nothing is written.
func (o groupOfRun) makeAll(ctx context.Context) (*madeGroup, error) {
	list, err := o.each(ctx)
	if err != nil {
		return nil, err
	}
	g := &madeGroup{}
	var errs resource.Errors
	namespace := o.factory.Flags.Namespace
	work := o.factory.Working("planning").Of(len(list), "workload")
	defer work.Stop()
	for i, one := range list {
		one.Progress = work.Each(i, len(list))
		o.factory.Flags.Namespace = namespace // a manifest may have had its own
		part, err := o.makePart(ctx, one)
		if err != nil {
			errs.Add(err)
			continue
		}
		if part.idle() {
			_, _ = fmt.Fprintf(o.factory.Streams.Err, "%s: %s\n", part.ref(), part.plan.Change.Why)
		}
		g.add(part)
	}
	o.factory.Flags.Namespace = namespace
	if err := errs.Err(); err != nil {
		return g, err
	}
	return g, o.groupDriver().assemble(g, &o.group, append(o.Sources(), o.selector)...)
}

// makePart makes the plan of one workload; one in progress that leads to the same state is
// continued.
func (o groupOfRun) makePart(ctx context.Context, one planning.One) (*groupPart, error) {
	run := *o.runOptions
	run.Options = one.Options
	run.Check = run.ready
	run.Present = func(ctx context.Context, name resourcearg.Name, namespace string) (*resource.Resource, plan.Snapshot, error) {
		run.factory.Flags.Namespace = &namespace
		s, err := run.open(ctx, name)
		if err != nil {
			return nil, plan.Snapshot{}, err
		}
		run.session, run.called = s, name
		snapshot, err := s.Observe(ctx, s.target.Ref)
		return s.object, snapshot, err
	}
	made, err := run.Make(ctx)
	if h, ok := errors.AsType[*controlledError](err); ok {
		err = &resource.Error{Err: fmt.Errorf("%s is %w", one.Name, h), Hint: "roll it out by itself: its Rollout makes the steps"}
	}
	var p *groupPart
	if err == nil {
		p, err = o.group.newGroupPart(run.session, run.desired, made)
	}
	if err != nil && run.session != nil && run.session.Cluster != nil {
		run.session.Close()
	}
	return p, err
}

// takeOverRecorded takes over the rollout of the workload that is in progress, or refuses it.
func (p *groupPart) takeOverRecorded() error {
	rec, err := p.session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err != nil:
		return err
	case !rec.InFlight():
		p.before = rec.Begun
		return nil
	case !sameGoal(rec.Plan, p.plan):
		return apply.Idle(p.session, plan.TransitionBegin)
	}
	p.plan, p.begun = rec.Plan, true
	return nil
}

// wave is the wave of a workload: a whole number in an annotation or a label, 0 without.
func (g *groupFlags) wave(r *resource.Resource) (int, error) {
	if g.waveBy == "" {
		return 0, nil
	}
	text, path := r.Annotation(g.waveBy), "metadata.annotations"
	if text == "" {
		text, path = r.Labels()[g.waveBy], "metadata.labels"
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, r.Fault(path, "waves are whole numbers, the lowest first", "%s: %q is not a whole number", g.waveBy, text)
	}
	return int(n), nil
}

// assemble puts the group together, and plays it through. from are what the workloads were
// selected by.
func (d groupDriver) assemble(g *madeGroup, flags *groupFlags, from ...string) error {
	if len(g.parts) == 0 {
		return nil
	}
	name, err := flags.named(from...)
	if err != nil {
		return err
	}
	namespace, err := d.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	var members []group.Member
	var plans []plan.Plan
	var before []time.Time
	replicas := 0
	for _, p := range g.parts {
		m := group.Member{Ref: p.ref(), Wave: p.wave}
		if m.DependsOn, err = d.dependencies(g, p); err != nil {
			return err
		}
		members, plans, before = append(members, m), append(plans, p.plan), append(before, p.before)
		replicas += p.plan.Limits.Replicas
		g.members = append(g.members, simulate.GroupMember{Plan: p.plan, Snapshot: p.snapshot(), Begun: p.begun})
	}
	if g.record, err = group.NewRecord(namespace, name, members, flags.limits(replicas), plans, before); err != nil {
		return err
	}
	g.record.By = holder()
	return g.play()
}

// snapshot is what the plan starts from.
func (p *groupPart) snapshot() plan.Snapshot {
	s := p.made.Snapshot
	if !p.begun {
		s.Progress = plan.Progress{}
	}
	return s
}

// play plays the whole group through in the model, and refuses what could not be completed,
// or would break a budget that members share.
func (g *madeGroup) play() error {
	g.budgets = simulate.SharedBudgets(g.members)
	all := g.record.Group
	all.Budgets = g.budgets
	var err error
	if g.line, err = simulate.Group(all, g.members, g.parts[0].made.Assumed()); err != nil {
		return &resource.Error{Err: err, Hint: "'kubectl kruise simulate' shows how far one rollout comes by itself"}
	}
	for _, p := range g.line.Peaks {
		if p.Breaks() {
			return &resource.Error{
				Err:  fmt.Errorf("the rollouts together would break %s: %d of its pods would be unavailable at a time, and it allows %d", p, p.Unavailable, p.Allowed),
				Hint: "lower maxUnavailable of the workloads whose pods it covers",
			}
		}
	}
	return nil
}

// dependencies are the members that the annotation of a workload names. What has nothing to
// roll out is completed; what is not among the workloads is not waited for.
func (d groupDriver) dependencies(g *madeGroup, p *groupPart) ([]cluster.Ref, error) {
	text := p.desired.Annotation(group.DependsOnAnnotation)
	if text == "" {
		return nil, nil
	}
	var out []cluster.Ref
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		namespace, typed := p.ref().Namespace, entry
		if strings.Count(entry, "/") == 2 {
			namespace, typed, _ = strings.Cut(entry, "/")
		}
		n, err := resourcearg.Parse(typed)
		if err != nil {
			return nil, p.desired.Fault("metadata.annotations", "names such as statefulset/db, or NAMESPACE/TYPE/NAME, with commas between them", "%s: %v", group.DependsOnAnnotation, err)
		}
		ref, found := g.find(n, namespace)
		switch {
		case !found:
			_, _ = fmt.Fprintf(d.factory.Streams.Err, "warning: %s depends on %s, which is not among the workloads to roll out: it is not waited for\n", p.ref(), entry)
		case ref != (cluster.Ref{}):
			out = append(out, ref)
		}
	}
	return out, nil
}

// find is the member of a name; the zero value is a workload that has nothing to roll out.
func (g *madeGroup) find(n resourcearg.Name, namespace string) (ref cluster.Ref, found bool) {
	for _, p := range g.parts {
		if r := p.ref(); r.Namespace == namespace && n.Means(r.Group, r.Kind, r.Name) {
			return r, true
		}
	}
	for _, r := range g.same {
		if r.Namespace == namespace && n.Means(r.Group, r.Kind, r.Name) {
			return cluster.Ref{}, true
		}
	}
	return cluster.Ref{}, false
}
