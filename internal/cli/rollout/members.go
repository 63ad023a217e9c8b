package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// member is one workload that a verb rolls out. It is open, with the plan that leads to its new
// state.
type member struct {
	session *session
	// called is its name on the command line, and desired the new state; nil where only a plan is
	// given.
	called  resourcearg.Name
	desired *resource.Resource
	// made is what the plan was made from; nil for one from a file, and for one that restarts
	// containers.
	made *planning.Made
	plan plan.Plan
	acts acts
	// begun indicates that the plan is the recorded one, which is in progress, and recorded is how far
	// it is; before is when the rollout was begun that is recorded and has ended.
	begun    bool
	recorded string
	before   time.Time
	// manifest is the document that the new state is written to in the end.
	manifest *gitops.Manifest
	// same is what is printed where nothing is left to do; "" for the plan's words.
	same string
}

func (m *member) ref() cluster.Ref { return m.session.target.Ref }

// idle reports whether there is nothing to roll out.
func (m *member) idle() bool { return !m.begun && len(m.plan.Steps) == 0 }

// make makes the plan that leads an open workload to a state by a policy.
func (m *member) make(ctx context.Context, policy planning.Maker, desired *resource.Resource) error {
	m.desired = desired
	snapshot, err := m.session.Observe(ctx, m.ref())
	if err != nil {
		return err
	}
	made, err := policy.Plan(ctx, m.session.object, snapshot, desired)
	if err != nil {
		return err
	}
	return m.take(made)
}

// take takes in a plan that was made. A recorded rollout that is in progress towards the same state
// continues; another one is refused.
func (m *member) take(made *planning.Made) error {
	m.made, m.plan, m.acts = made, made.Plan, made.Acts
	rec, err := m.session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err != nil:
		return err
	case !rec.InFlight():
		m.before = rec.Begun
		return nil
	case !sameGoal(rec.Plan, made.Plan):
		return apply.Idle(m.session, plan.TransitionBegin)
	}
	m.plan, m.begun, m.recorded, m.acts = rec.Plan, true, rec.Describe(), left(rec.Plan, made.Snapshot, m.session.Now(), true)
	return nil
}

// ending is how its rollout ended, as an error. That one which is a way back has rolled back is none.
func (m *member) ending(res apply.Result) error {
	if res.Outcome == event.RolledBack && m.plan.RollbackReason != "" {
		return nil
	}
	return ending(res)
}

// sameGoal reports whether a plan leads to the state that another one, which may have
// nothing left to do, leads to.
func sameGoal(a, b plan.Plan) bool {
	if a.RollbackReason != "" || a.Change.ToHash != b.Change.ToHash {
		return false
	}
	updated, kept := endCounts(a)
	u, k := endCounts(b)
	return len(b.Steps) == 0 || updated == u && kept == k
}

// endCounts is how many pods carry the new template in the end, and how many the old.
func endCounts(p plan.Plan) (updated, kept int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Updated > 0 || s.Kept > 0 {
			updated, kept = s.Updated, s.Kept
		}
	}
	return updated, kept
}

// finalPartition is the partition that the last step of a plan leaves, 0 for none.
func finalPartition(p plan.Plan) any {
	for _, s := range slices.Backward(p.Steps) {
		for _, c := range s.After {
			if c.Type != plan.HoldsPartition {
				continue
			}
			if n, err := strconv.ParseInt(c.Value, 10, 32); err == nil {
				return n
			}
			return c.Value
		}
	}
	return int64(0)
}

// rolling is what a verb rolls out: members that are open, as one rollout.
type rolling struct {
	*execution

	members []*member
	// record has no name where members follow one after the other, each by its own record alone.
	record plan.Rollout
	line   simulate.GroupTimeline
	// same are workloads that have nothing to roll out.
	same []*member
	// united is the UnitedDeployment whose subsets the members are; nil for workloads by themselves.
	united *subsets
	// closed indicates that the sessions are closed, as they are by the run.
	closed bool
}

// alone is the rollout of one workload.
func (d *execution) alone(m *member) *rolling {
	return &rolling{execution: d, members: []*member{m}, record: plan.RolloutOf(m.plan)}
}

// isAlone reports whether one workload is rolled out by itself.
func (r *rolling) isAlone() bool { return len(r.members) == 1 && r.record.Name == "" }

// close ends the watches of the workloads.
func (r *rolling) close() {
	for _, m := range r.members {
		if !r.closed && m.session != nil {
			m.session.Close()
		}
	}
	r.closed = true
}

// add takes a workload in; one that has nothing to roll out counts as completed.
func (r *rolling) add(m *member) {
	if m.idle() {
		r.same = append(r.same, m)
		m.session.Close()
		return
	}
	r.members = append(r.members, m)
}

// assemble makes one rollout of the members, and plays it through where they are several: a group
// as the flags say, with its name by what the workloads were selected by; without such flags, they
// follow one after the other.
func (r *rolling) assemble(flags *groupFlags, from ...string) error {
	if len(r.members) == 0 {
		return nil
	}
	namespace, err := r.factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	r.record = plan.Rollout{Namespace: namespace, By: holder()}
	if flags.given {
		if r.record.Name, err = flags.named(from...); err != nil {
			return err
		}
	}
	replicas := 0
	for _, m := range r.members {
		one := plan.Member{Ref: m.ref(), Plan: m.plan, Before: m.before}
		if one.Wave, err = flags.wave(m.desired); err != nil {
			return err
		}
		if one.DependsOn, err = r.dependencies(m); err != nil {
			return err
		}
		r.record.Members = append(r.record.Members, one)
		replicas += m.plan.Limits.Replicas
	}
	if r.record.Bounds = (plan.Bounds{Parallel: 1, PassWaiting: r.atPause}); flags.given {
		r.record.Bounds = flags.bounds(replicas)
	}
	if err := r.record.Check(); err != nil || r.isAlone() {
		return err
	}
	return r.play()
}

// play plays the whole rollout through in the model, and refuses what could not be completed,
// or would break a budget that members share. Plans that restart containers are not played.
func (r *rolling) play() error {
	known := make([]plan.Snapshot, len(r.members))
	models := make([]simulate.GroupMember, len(r.members))
	for i, m := range r.members {
		if m.made == nil {
			return nil
		}
		known[i] = m.made.Snapshot
		if !m.begun {
			known[i].Progress = plan.Progress{}
		}
		models[i] = simulate.GroupMember{Snapshot: known[i], Begun: m.begun}
	}
	all := r.record
	all.Budgets = plan.SharedBudgets(all.Members, known)
	var err error
	if r.line, err = simulate.Group(all, models, r.members[0].made.Assumed()); err != nil {
		return &resource.Error{Err: err, Hint: "'kubectl kruise simulate' shows how far one rollout comes by itself"}
	}
	for _, p := range r.line.Peaks {
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
func (r *rolling) dependencies(m *member) ([]cluster.Ref, error) {
	if m.desired == nil || len(r.members) == 1 && r.record.Name == "" {
		return nil, nil
	}
	text := m.desired.Annotation(plan.DependsOnAnnotation)
	if text == "" {
		return nil, nil
	}
	var out []cluster.Ref
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		namespace, typed := m.ref().Namespace, entry
		if strings.Count(entry, "/") == 2 {
			namespace, typed, _ = strings.Cut(entry, "/")
		}
		n, err := resourcearg.Parse(typed)
		if err != nil {
			return nil, m.desired.Fault("metadata.annotations", "names such as statefulset/db, or NAMESPACE/TYPE/NAME, with commas between them", "%s: %v", plan.DependsOnAnnotation, err)
		}
		ref, found := r.find(n, namespace)
		switch {
		case !found:
			_, _ = fmt.Fprintf(r.factory.Streams.Err, "warning: %s depends on %s, which is not among the workloads to roll out: it is not waited for\n", m.ref(), entry)
		case ref != (cluster.Ref{}):
			out = append(out, ref)
		}
	}
	return out, nil
}

// find is the member of a name; the zero value is a workload that has nothing to roll out.
func (r *rolling) find(n resourcearg.Name, namespace string) (ref cluster.Ref, found bool) {
	is := func(ref cluster.Ref) bool {
		return ref.Namespace == namespace && n.Means(ref.Group, ref.Kind, ref.Name)
	}
	for _, m := range r.members {
		if is(m.ref()) {
			return m.ref(), true
		}
	}
	return cluster.Ref{}, slices.ContainsFunc(r.same, func(m *member) bool { return is(m.ref()) })
}

// show shows every plan, and the order of several. done indicates that the flags ask for no more:
// what would be sent, or the Job that would carry it out, was shown as well.
func (r *rolling) show(ctx context.Context) (done bool, err error) {
	if r.united != nil {
		r.united.describe(r.members)
	}
	if err := r.showPlans(); err != nil {
		return false, err
	}
	switch {
	case r.united != nil && r.united.isReached(r.members):
		r.printSame()
		return true, nil
	case r.detach.manifest:
		return true, r.jobs().printManifest(ctx, r)
	case r.dry().Only():
		list, err := r.requests()
		if err == nil {
			err = r.execution.show(ctx, list)
		}
		return true, errors.Join(err, r.jobs().preview(ctx, r))
	}
	return false, nil
}

// printSame says why there is nothing to roll out of the workloads that have nothing.
func (r *rolling) printSame() {
	for _, m := range r.same {
		_, _ = fmt.Fprintf(r.factory.Streams.Err, "%s: %s\n", m.ref(), m.plan.Change.Why)
	}
}

// showPlans shows every plan, and when each member of several starts.
func (r *rolling) showPlans() error {
	w, style := r.factory.Streams.Err, view.Style{Color: r.factory.ColorErr()}
	for _, m := range r.members {
		var predicted *simulate.Summary
		if m.begun {
			_, _ = fmt.Fprintf(w, "continuing the rollout of %s: %s\n", m.ref(), m.recorded)
		} else if m.made != nil {
			predicted = &m.made.Predicted.Summary
		}
		if err := view.Plan(w, m.plan, predicted, style); err != nil {
			return err
		}
	}
	if r.line.Runs == nil {
		return nil
	}
	var rows []view.GroupMember
	for _, m := range r.record.Members {
		row := view.GroupMember{Namespace: m.Ref.Namespace, Name: r.record.MemberName(m.Ref), Wave: m.Wave}
		var needs []string
		for _, ref := range m.DependsOn {
			needs = append(needs, r.record.MemberName(ref))
		}
		row.DependsOn = strings.Join(needs, ", ")
		rows = append(rows, row)
	}
	return view.GroupPlan(w, rows, r.line, r.factory.ErrStyle())
}

// requests are those of all members, if pods behave.
func (r *rolling) requests() (list []event.Request, err error) {
	if r.united != nil {
		return r.united.requests(r.members), nil
	}
	for _, m := range r.members {
		more, err := m.session.requests(m.plan, m.acts)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// question asks whether it is to be rolled out.
func (r *rolling) question() string {
	switch {
	case r.united != nil:
		return "Roll out UnitedDeployment " + r.united.object.Name + ", its subsets in this order?"
	case r.isAlone():
		return "Roll out " + r.members[0].session.target.String() + "?"
	case r.record.Name == "":
		return fmt.Sprintf("Roll out %s, one after the other?", counted.Of(len(r.members), "workload"))
	}
	return fmt.Sprintf("Roll out %s as group %s?", counted.Of(len(r.members), "workload"), r.record.Name)
}

// begin has a Job carry it out where the flags ask for that; otherwise it is carried out here.
func (r *rolling) begin(ctx context.Context) error {
	if r.detach.on {
		return r.jobs().begin(ctx, r)
	}
	_, err := r.run(ctx)
	return r.unlessPaused(err)
}

// run carries it out, and returns how far each member has come. Unless the error is nil, not all
// are completed; one that waits for a person is an error, too.
func (r *rolling) run(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	switch {
	case r.united != nil:
		r.close() // they change by the first write
		members, phases, err := r.united.run(ctx)
		r.members = members
		return phases, err
	case r.isAlone():
		return r.runAlone(ctx)
	}
	var errs []error
	for _, p := range r.unbegun() {
		errs = append(errs, r.commands(p.Commands(0), "the plan of "+p.Target.Ref().String()))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	known := &approvals{common: r.common, group: r.record.Name != ""}
	groups, err := r.groups(known, r.sessions())
	if err != nil {
		return nil, err
	}
	var opt apply.GroupOptions
	if r.record.Name == "" {
		opt = apply.GroupOptions{AtPause: r.atPause, Run: r.follow()}
	} else {
		if err := known.approveGroup(ctx, &r.record, r.unbegun()); err != nil {
			return nil, err
		}
		var stop func()
		if opt, stop, err = r.groupOptions(ctx, r.record); err != nil {
			return nil, err
		}
		defer stop()
	}
	r.closed = true
	res, err := groups.Begin(ctx, r.record, &opt)
	if err != nil {
		return nil, groupHinted(r.record.Name, err)
	}
	phases := map[cluster.Ref]plan.Phase{}
	for _, m := range res.Members {
		phases[m.Ref] = m.Phase
	}
	if err = r.groupEnded(r.record, res); r.record.Name == "" {
		err = r.worst(res)
	} else if err == nil && res.Ended == event.AtPause {
		err = command.ErrPaused // also where that counts as a success
	}
	return phases, err
}

// runAlone is run for one workload.
func (r *rolling) runAlone(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	m, start := r.members[0], r.start
	if m.begun {
		start = func(ctx context.Context, s *session, _ plan.Plan) (apply.Result, error) {
			return r.resumeRecorded(ctx, s)
		}
	}
	res, err := start(ctx, m.session, m.plan)
	if err != nil {
		return nil, err
	}
	phase := plan.PhaseFailed
	if err = m.ending(res); err == nil {
		phase = plan.PhaseCompleted
	} else if res.Outcome == event.AtPause {
		phase = plan.PhaseWaiting
	}
	return map[cluster.Ref]plan.Phase{m.ref(): phase}, err
}

// follow carries each member out as one by itself, with its number before it.
func (r *rolling) follow() func(context.Context, apply.Workload, *apply.Executor, apply.Options) (apply.Result, error) {
	n := 0
	return func(ctx context.Context, w apply.Workload, e *apply.Executor, o apply.Options) (apply.Result, error) {
		n++
		of := e.Plan()
		_, _ = fmt.Fprintf(r.factory.Streams.Err, "%d of %d: %s\n", n, len(r.members), r.record.MemberName(of.Target.Ref()))
		return r.carryOut(ctx, w.(*session), e, o.Emit) //nolint:forcetypeassert // it was opened here
	}
}

// worst is the worst end of the members that follow one after the other.
func (r *rolling) worst(res apply.GroupResult) error {
	if res.Faults != nil {
		return withHint(res.Faults)
	}
	var err error
	for i, one := range res.Results {
		if one.Outcome != "" && one.Outcome != event.TakenOver { // it was followed to its end
			err = worse(err, r.members[i].ending(one))
		}
	}
	if err == nil {
		err = ending(apply.Result{Outcome: res.Ended, Reason: res.Reason})
	}
	return err
}

// unbegun are the plans of the members that have not begun.
func (r *rolling) unbegun() (list []plan.Plan) {
	for _, m := range r.members {
		if !m.begun {
			list = append(list, m.plan)
		}
	}
	return list
}

// sessions are the workloads that are open.
func (r *rolling) sessions() map[cluster.Ref]*session {
	out := map[cluster.Ref]*session{}
	for _, m := range r.members {
		out[m.ref()] = m.session
	}
	return out
}
