package execute

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
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Member is one workload that a verb rolls out. It is open, with the plan that leads to its new
// state.
type Member struct {
	Session *session.Session
	// Called is its name on the command line, and desired the new state; nil where only a plan is
	// given.
	Called  resourcearg.Name
	Desired *resource.Resource
	// made is what the plan was made from; nil for one from a file, and for one that restarts
	// containers.
	made *planning.Made
	Plan plan.Plan
	Acts session.Acts
	// begun indicates that the plan is the recorded one, which is in progress, and recorded is how far
	// it is; before is when the rollout was begun that is recorded and has ended.
	begun    bool
	recorded string
	before   time.Time
	// Manifest is the document that the new state is written to in the end.
	Manifest *gitops.Manifest
	// Same is what is printed where nothing is left to do; "" for the plan's words.
	Same string
}

// Ref names the workload.
func (m *Member) Ref() cluster.Ref { return m.Session.Target.Ref }

// Idle reports whether there is nothing to roll out.
func (m *Member) Idle() bool { return !m.begun && len(m.Plan.Steps) == 0 }

// make makes the plan that leads an open workload to a state by a policy.
func (m *Member) make(ctx context.Context, policy planning.Maker, desired *resource.Resource) error {
	m.Desired = desired
	snapshot, err := m.Session.Observe(ctx, m.Ref())
	if err != nil {
		return err
	}
	made, err := policy.Plan(ctx, m.Session.Object, snapshot, desired)
	if err != nil {
		return err
	}
	return m.Take(made)
}

// Take takes in a plan that was made. A recorded rollout that is in progress towards the same state
// continues; another one is refused.
func (m *Member) Take(made *planning.Made) error {
	m.made, m.Plan, m.Acts = made, made.Plan, made.Acts
	rec, err := m.Session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err != nil:
		return err
	case !rec.InFlight():
		m.before = rec.Begun
		return nil
	case !sameGoal(rec.Plan, made.Plan):
		return apply.Idle(m.Session, plan.TransitionBegin)
	}
	m.Plan, m.begun, m.recorded, m.Acts = rec.Plan, true, rec.Describe(), session.Remaining(rec.Plan, made.Snapshot, m.Session.Now(), true)
	return nil
}

// ending is how its rollout ended, as an error. That one which is a way back has rolled back is none.
func (m *Member) ending(res apply.Result) error {
	if res.Outcome == event.RolledBack && m.Plan.RollbackReason != "" {
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

// Rolling is what a verb rolls out: members that are open, as one rollout.
type Rolling struct {
	*Execution

	Members []*Member
	// Record has no name where members follow one after the other, each by its own record alone.
	Record plan.Rollout
	line   simulate.GroupTimeline
	// same are workloads that have nothing to roll out.
	same []*Member
	// united is the UnitedDeployment whose subsets the members are; nil for workloads by themselves.
	united *Subsets
	// Closed indicates that the sessions are closed, as they are by the run.
	Closed bool
}

// Alone is the rollout of one workload.
func (d *Execution) Alone(m *Member) *Rolling {
	return &Rolling{Execution: d, Members: []*Member{m}, Record: plan.RolloutOf(m.Plan)}
}

// isAlone reports whether one workload is rolled out by itself.
func (r *Rolling) isAlone() bool { return len(r.Members) == 1 && r.Record.Name == "" }

// CloseAll ends the watches of the workloads.
func (r *Rolling) CloseAll() {
	for _, m := range r.Members {
		if !r.Closed && m.Session != nil {
			m.Session.Close()
		}
	}
	r.Closed = true
}

// AddMember takes a workload in; one that has nothing to roll out counts as completed.
func (r *Rolling) AddMember(m *Member) {
	if m.Idle() {
		r.same = append(r.same, m)
		m.Session.Close()
		return
	}
	r.Members = append(r.Members, m)
}

// Assemble makes one rollout of the members, and plays it through where they are several: a group
// as the flags say, with its name by what the workloads were selected by; without such flags, they
// follow one after the other.
func (r *Rolling) Assemble(flags *GroupFlags, from ...string) error {
	if len(r.Members) == 0 {
		return nil
	}
	namespace, err := r.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	r.Record = plan.Rollout{Namespace: namespace, By: session.Holder()}
	if flags.Given {
		if r.Record.Name, err = flags.named(from...); err != nil {
			return err
		}
	}
	replicas := 0
	for _, m := range r.Members {
		one := plan.Member{Ref: m.Ref(), Plan: m.Plan, Before: m.before}
		if one.Wave, err = flags.wave(m.Desired); err != nil {
			return err
		}
		if one.DependsOn, err = r.dependencies(m); err != nil {
			return err
		}
		r.Record.Members = append(r.Record.Members, one)
		replicas += m.Plan.Limits.Replicas
	}
	if r.Record.Bounds = (plan.Bounds{Parallel: 1, PassWaiting: r.AtPause}); flags.Given {
		r.Record.Bounds = flags.bounds(replicas)
	}
	if err := r.Record.Check(); err != nil || r.isAlone() {
		return err
	}
	return r.play()
}

// play plays the whole rollout through in the model, and refuses what could not be completed,
// or would break a budget that members share. Plans that restart containers are not played.
func (r *Rolling) play() error {
	known := make([]plan.Snapshot, len(r.Members))
	models := make([]simulate.GroupMember, len(r.Members))
	for i, m := range r.Members {
		if m.made == nil {
			return nil
		}
		known[i] = m.made.Snapshot
		if !m.begun {
			known[i].Progress = plan.Progress{}
		}
		models[i] = simulate.GroupMember{Snapshot: known[i], Begun: m.begun}
	}
	all := r.Record
	all.Budgets = plan.SharedBudgets(all.Members, known)
	var err error
	if r.line, err = simulate.Group(all, models, r.Members[0].made.Assumed()); err != nil {
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
func (r *Rolling) dependencies(m *Member) ([]cluster.Ref, error) {
	if m.Desired == nil || len(r.Members) == 1 && r.Record.Name == "" {
		return nil, nil
	}
	text := m.Desired.Annotation(plan.DependsOnAnnotation)
	if text == "" {
		return nil, nil
	}
	var out []cluster.Ref
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		namespace, typed := m.Ref().Namespace, entry
		if strings.Count(entry, "/") == 2 {
			namespace, typed, _ = strings.Cut(entry, "/")
		}
		n, err := resourcearg.Parse(typed)
		if err != nil {
			return nil, m.Desired.Fault("metadata.annotations", "names such as statefulset/db, or NAMESPACE/TYPE/NAME, with commas between them", "%s: %v", plan.DependsOnAnnotation, err)
		}
		ref, found := r.find(n, namespace)
		switch {
		case !found:
			_, _ = fmt.Fprintf(r.Factory.Streams.Err, "warning: %s depends on %s, which is not among the workloads to roll out: it is not waited for\n", m.Ref(), entry)
		case ref != (cluster.Ref{}):
			out = append(out, ref)
		}
	}
	return out, nil
}

// find is the member of a name; the zero value is a workload that has nothing to roll out.
func (r *Rolling) find(n resourcearg.Name, namespace string) (ref cluster.Ref, found bool) {
	is := func(ref cluster.Ref) bool {
		return ref.Namespace == namespace && n.Means(ref.Group, ref.Kind, ref.Name)
	}
	for _, m := range r.Members {
		if is(m.Ref()) {
			return m.Ref(), true
		}
	}
	return cluster.Ref{}, slices.ContainsFunc(r.same, func(m *Member) bool { return is(m.Ref()) })
}

// ShowAll shows every plan, and the order of several. done indicates that the flags ask for no more:
// what would be sent, or the Job that would carry it out, was shown as well.
func (r *Rolling) ShowAll(ctx context.Context) (done bool, err error) {
	if r.united != nil {
		r.united.describe(r.Members)
	}
	if err := r.showPlans(); err != nil {
		return false, err
	}
	switch {
	case r.united != nil && r.united.isReached(r.Members):
		r.printSame()
		return true, nil
	case r.Detach.Manifest:
		return true, r.Jobs().printManifest(ctx, r)
	case r.Dry().Only():
		list, err := r.requests()
		if err == nil {
			err = r.ShowRequests(ctx, list)
		}
		return true, errors.Join(err, r.Jobs().preview(ctx, r))
	}
	return false, nil
}

// printSame says why there is nothing to roll out of the workloads that have nothing.
func (r *Rolling) printSame() {
	for _, m := range r.same {
		_, _ = fmt.Fprintf(r.Factory.Streams.Err, "%s: %s\n", m.Ref(), m.Plan.Change.Why)
	}
}

// showPlans shows every plan, and when each member of several starts.
func (r *Rolling) showPlans() error {
	w, style := r.Factory.Streams.Err, view.Style{Color: r.Factory.ColorErr()}
	for _, m := range r.Members {
		var predicted *simulate.Summary
		if m.begun {
			_, _ = fmt.Fprintf(w, "continuing the rollout of %s: %s\n", m.Ref(), m.recorded)
		} else if m.made != nil {
			predicted = &m.made.Predicted.Summary
		}
		if err := view.Plan(w, m.Plan, predicted, style); err != nil {
			return err
		}
	}
	if r.line.Runs == nil {
		return nil
	}
	var rows []view.GroupMember
	for _, m := range r.Record.Members {
		row := view.GroupMember{Namespace: m.Ref.Namespace, Name: r.Record.MemberName(m.Ref), Wave: m.Wave}
		var needs []string
		for _, ref := range m.DependsOn {
			needs = append(needs, r.Record.MemberName(ref))
		}
		row.DependsOn = strings.Join(needs, ", ")
		rows = append(rows, row)
	}
	return view.GroupPlan(w, rows, r.line, r.Factory.ErrStyle())
}

// requests are those of all members, if pods behave.
func (r *Rolling) requests() (list []event.Request, err error) {
	if r.united != nil {
		return r.united.Requests(r.Members), nil
	}
	for _, m := range r.Members {
		more, err := m.Session.PlanRequests(m.Plan, m.Acts)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// Question asks whether it is to be rolled out.
func (r *Rolling) Question() string {
	switch {
	case r.united != nil:
		return "Roll out UnitedDeployment " + r.united.Object.Name + ", its subsets in this order?"
	case r.isAlone():
		return "Roll out " + r.Members[0].Session.Target.String() + "?"
	case r.Record.Name == "":
		return fmt.Sprintf("Roll out %s, one after the other?", counted.Of(len(r.Members), "workload"))
	}
	return fmt.Sprintf("Roll out %s as group %s?", counted.Of(len(r.Members), "workload"), r.Record.Name)
}

// RunOrDetach has a Job carry it out where the flags ask for that; otherwise it is carried out here.
func (r *Rolling) RunOrDetach(ctx context.Context) error {
	if r.Detach.On {
		return r.Jobs().Begin(ctx, r)
	}
	_, err := r.RunAll(ctx)
	return r.UnlessPaused(err)
}

// RunAll carries it out, and returns how far each member has come. Unless the error is nil, not all
// are completed; one that waits for a person is an error, too.
func (r *Rolling) RunAll(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	switch {
	case r.united != nil:
		r.CloseAll() // they change by the first write
		members, phases, err := r.united.run(ctx)
		r.Members = members
		return phases, err
	case r.isAlone():
		return r.runAlone(ctx)
	}
	var errs []error
	for _, p := range r.unbegun() {
		errs = append(errs, r.CheckCommands(p.Commands(0), "the plan of "+p.Target.Ref().String()))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	known := &session.Approvals{Client: r.Client, Group: r.Record.Name != ""}
	groups, err := r.Groups(known, r.Sessions())
	if err != nil {
		return nil, err
	}
	var opt apply.GroupOptions
	if r.Record.Name == "" {
		opt = apply.GroupOptions{AtPause: r.AtPause, Run: r.follow()}
	} else {
		if err := known.ApproveGroup(ctx, &r.Record, r.unbegun()); err != nil {
			return nil, err
		}
		var stop func()
		if opt, stop, err = r.GroupOptions(ctx, r.Record); err != nil {
			return nil, err
		}
		defer stop()
	}
	r.Closed = true
	res, err := groups.Begin(ctx, r.Record, &opt)
	if err != nil {
		return nil, GroupHinted(r.Record.Name, err)
	}
	phases := map[cluster.Ref]plan.Phase{}
	for _, m := range res.Members {
		phases[m.Ref] = m.Phase
	}
	if err = r.GroupEnded(r.Record, res); r.Record.Name == "" {
		err = r.worst(res)
	} else if err == nil && res.Ended == event.AtPause {
		err = command.ErrPaused // also where that counts as a success
	}
	return phases, err
}

// runAlone is run for one workload.
func (r *Rolling) runAlone(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	m, start := r.Members[0], r.start
	if m.begun {
		start = func(ctx context.Context, s *session.Session, _ plan.Plan) (apply.Result, error) {
			return r.resumeRecorded(ctx, s)
		}
	}
	res, err := start(ctx, m.Session, m.Plan)
	if err != nil {
		return nil, err
	}
	phase := plan.PhaseFailed
	if err = m.ending(res); err == nil {
		phase = plan.PhaseCompleted
	} else if res.Outcome == event.AtPause {
		phase = plan.PhaseWaiting
	}
	return map[cluster.Ref]plan.Phase{m.Ref(): phase}, err
}

// follow carries each member out as one by itself, with its number before it.
func (r *Rolling) follow() func(context.Context, apply.Workload, *apply.Executor, apply.Options) (apply.Result, error) {
	n := 0
	return func(ctx context.Context, w apply.Workload, e *apply.Executor, o apply.Options) (apply.Result, error) {
		n++
		of := e.Plan()
		_, _ = fmt.Fprintf(r.Factory.Streams.Err, "%d of %d: %s\n", n, len(r.Members), r.Record.MemberName(of.Target.Ref()))
		return r.CarryOut(ctx, w.(*session.Session), e, o.Emit) //nolint:forcetypeassert // it was opened here
	}
}

// worst is the worst end of the members that follow one after the other.
func (r *Rolling) worst(res apply.GroupResult) error {
	if res.Faults != nil {
		return session.WithHint(res.Faults)
	}
	var err error
	for i, one := range res.Results {
		if one.Outcome != "" && one.Outcome != event.TakenOver { // it was followed to its end
			err = Worse(err, r.Members[i].ending(one))
		}
	}
	if err == nil {
		err = ending(apply.Result{Outcome: res.Ended, Reason: res.Reason})
	}
	return err
}

// unbegun are the plans of the members that have not begun.
func (r *Rolling) unbegun() (list []plan.Plan) {
	for _, m := range r.Members {
		if !m.begun {
			list = append(list, m.Plan)
		}
	}
	return list
}

// Sessions are the workloads that are open.
func (r *Rolling) Sessions() map[cluster.Ref]*session.Session {
	out := map[cluster.Ref]*session.Session{}
	for _, m := range r.Members {
		out[m.Ref()] = m.Session
	}
	return out
}
