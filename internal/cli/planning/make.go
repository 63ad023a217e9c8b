package planning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Made is a plan with what it starts from.
type Made struct {
	Plan     plan.Plan
	Snapshot plan.Snapshot
	// At is the time of the snapshot; zero for one that is made up.
	At time.Time
	// Predicted is how the plan goes if pods behave; a draft has none.
	Predicted simulate.Timeline

	gates installation.Gates
	// assumeReady is whether pods that are not ready now are taken to become ready.
	assumeReady bool
	progress    resource.Progress
}

// Make makes the plan that the command line asks for, and refuses one that could
// not finish.
func (o *Options) Make(ctx context.Context) (*Made, error) {
	defer o.working()()
	from, desired, err := o.states(ctx)
	if err != nil {
		return nil, err
	}
	return o.finishing(from, desired)
}

// Plan is Make for a workload of a cluster of which is known what there is, and what it should become.
func (o *Maker) Plan(ctx context.Context, object *resource.Resource, s plan.Snapshot, desired *resource.Resource) (*Made, error) {
	defer o.working()()
	unread, err := o.readGates(ctx)
	if err != nil {
		return nil, err
	}
	s.Gates, s.GatesUnread = o.gates.Gates, unread
	return o.finishing(present{object, s, now()}, desired)
}

// working shows how much of the run of a plan is done, until done is called, unless a caller does.
func (o *Maker) working() (done func()) {
	if o.Progress != nil {
		return func() {}
	}
	work := o.Factory.Working("planning")
	o.Progress = work.Progress()
	return func() {
		work.Stop()
		o.Progress = nil
	}
}

// finishing makes a plan that could finish.
func (o *Maker) finishing(from present, desired *resource.Resource) (*Made, error) {
	m, err := o.draft(from, desired, (*Made).buildAndRun)
	why, unfinished := errors.AsType[*simulate.UnfinishedError](err)
	switch {
	case unfinished && m.Plan.Paused:
		return nil, Paused(&m.Plan)
	case unfinished:
		return nil, &resource.Error{Err: why, Hint: "'kubectl kruise simulate' with the same flags shows how far it comes" + m.unready()}
	}
	return m, err
}

// unready are the pods that keep a plan from its end, perhaps, as the end of a hint.
func (m *Made) unready() string {
	down := simulate.Unready(m.Snapshot)
	if m.assumeReady || len(down) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s %s not ready now, and taken to stay so: --assume-ready takes %s to become ready", counted.Some(down), counted.Word(len(down), "is", "are"), counted.Word(len(down), "it", "them"))
}

// buildAndRun makes the plan, with the pods that a run of it changes.
func (m *Made) buildAndRun(desired *cluster.Workload, policy plan.Policy) (err error) {
	m.Plan, m.Predicted, err = simulate.Build(desired, m.Snapshot, policy, m.Assumed())
	return err
}

// build makes the plan alone.
func (m *Made) build(desired *cluster.Workload, policy plan.Policy) (err error) {
	m.Plan, err = plan.Build(desired, m.Snapshot, policy)
	return err
}

// Paused reports that a plan cannot finish since the workload is paused, and what to do first.
func Paused(p *plan.Plan) error {
	object := p.Target.Object()
	path := plan.PausedPath(resource.GroupOf(object.APIVersion), object.Kind, object.APIVersion[strings.LastIndex(object.APIVersion, "/")+1:])
	return &resource.Error{
		Err:  fmt.Errorf("%s is paused (%s: true): its controller updates no pod", p.Target.Ref(), strings.Join(path, ".")),
		Hint: fmt.Sprintf("resume it first: 'kubectl kruise rollout resume %s'; in a manifest, remove the field", p.Target.Ref()),
	}
}

// Draft makes the plan without asking whether it could finish. What admission
// would refuse is refused here.
func (o *Options) Draft(ctx context.Context) (*Made, error) {
	from, desired, err := o.states(ctx)
	if err != nil {
		return nil, err
	}
	return o.draft(from, desired, (*Made).build)
}

// states are what there is, and what it should become.
func (o *Options) states(ctx context.Context) (from present, desired *resource.Resource, err error) {
	manifest, name, namespace, err := o.which(ctx)
	if err != nil {
		return from, nil, err
	}
	if from, err = o.readPresent(ctx, name, namespace); err != nil {
		return from, nil, err
	}
	desired, err = o.Desired(ctx, manifest, from.object)
	return from, desired, err
}

func (o *Maker) draft(from present, desired *resource.Resource, build func(*Made, *cluster.Workload, plan.Policy) error) (*Made, error) {
	if err := Admit(from.object, desired, from.snapshot.Gates.Release); err != nil {
		return nil, err
	}
	m := &Made{Snapshot: from.snapshot, At: from.at, gates: o.gates, assumeReady: o.assumeReady, progress: o.Progress}
	return m, o.build(o.readAs(desired, from.snapshot.Gates.Release), m, build)
}

// readAs is an object as a release of Kruise reads it; what the release drops is warned of.
func (o *Maker) readAs(r *resource.Resource, release kruise.Release) *resource.Resource {
	reading := release.Read(r.Node())
	if release.IsZero() || reading.Object == r.Node() {
		return r
	}
	for _, d := range reading.Dropped {
		_, _ = fmt.Fprintf(o.Factory.Streams.Err, "warning: %v\n", r.Fault(d.Path, "", "%s, and %s drops it without a word; the plan goes without it", d.Words(), release.Name()))
	}
	return resource.Parsed(reading.Object, nil, r.Origin)
}

func (o *Maker) build(desired *resource.Resource, m *Made, build func(*Made, *cluster.Workload, plan.Policy) error) error {
	w, err := cluster.ReadWorkload(desired.Node())
	if err != nil {
		return desired.Wrap(err, "")
	}
	policy, err := o.basePolicy(desired, w)
	if err != nil {
		return err
	}
	if err := o.policy.read(&policy); err != nil {
		return err
	}
	if o.Counted {
		count(&policy, w, m.Snapshot)
	}
	return desired.Wrap(build(m, w, policy), "")
}

// Admit asks the rules of Kruise's webhooks whether the change may be written.
func Admit(old, desired *resource.Resource, of kruise.Release) error {
	c := stage.New(resource.NewFacts([]*resource.Resource{desired}, []*resource.Resource{old}, ""), stage.Options{Kruise: of})
	var errs resource.Errors
	for _, f := range check.Object(c, check.Request{Operation: check.Update, Object: desired, Old: old}) {
		if !f.Accepted {
			errs.Add(f.Error)
		}
	}
	return errs.Err()
}

// Assumed is what a preview takes for granted of the cluster.
func (m *Made) Assumed() simulate.Options {
	o := simulate.DefaultOptions()
	o.Gates, o.Start, o.Progress = m.Snapshot.Gates, m.At, m.progress
	o.RecoverAll = m.assumeReady
	o.GuardUpdates, o.ReadinessGate = m.Snapshot.Gates.GuardUpdates, m.gates.ReadinessGate
	return o
}

// Run runs the plan in a model cluster.
func (m *Made) Run(o simulate.Options, r simulate.RolloutOptions) (simulate.Timeline, error) {
	w, err := simulate.FromSnapshot(m.Snapshot, o)
	if err != nil {
		return simulate.Timeline{}, err
	}
	return simulate.Rollout(w, m.Plan, r)
}

// Acts tells every action of the plan, and what is known when it is due, if pods
// behave and pauses are promoted at once.
func (m *Made) Acts(tell func(plan.Snapshot, plan.Action)) error {
	at := time.Duration(0)
	s := *m
	s.Snapshot.Progress = plan.Progress{}
	_, err := s.Run(m.Assumed(), simulate.RolloutOptions{Promote: &at, Did: tell})
	return err
}

// count has steps stop at numbers of pods, and the last where the workload's own
// partition does.
func count(policy *plan.Policy, desired *cluster.Workload, s plan.Snapshot) {
	total := plan.CurrentSpecPlan(s).Limits.Replicas
	reach := total
	if own, has := cluster.Of(desired.Object).Partition(); has {
		kept := rules.Partition
		if desired.Kind == kruise.KindDaemonSet {
			kept = rules.DaemonSetPartition
		}
		reach = max(total-kept(&own, total), 0)
	}
	if len(policy.Steps) == 0 {
		policy.Steps = plan.DefaultSteps(total)
	}
	if reach == 0 { // no pod to stop at
		policy.Steps = nil
		return
	}
	var out []plan.PolicyStep
	for _, step := range policy.Steps {
		step.To = plan.Pods(min(step.To.Of(total), reach))
		if n := len(out); n > 0 && out[n-1].To == step.To { // half of one pod is that pod
			out[n-1] = step
			continue
		}
		out = append(out, step)
	}
	policy.Steps = out
}
