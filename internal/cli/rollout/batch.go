package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Batch are rollouts as a part of what another verb does: several workloads, one
// after the other, by the same policy.
type Batch struct {
	driving

	policy planning.Options
	group  groupFlags
}

// NewBatch returns a batch with its defaults.
func NewBatch(f *factory.Factory) *Batch {
	b := &Batch{driving: driving{common: &common{factory: f, gates: cluster.DefaultGates()}}}
	b.policy.Factory = f
	return b
}

// AddFlags adds the flags that say how workloads are rolled out and waited for. A
// flag that the verb has already stays its own.
func (b *Batch) AddFlags(c *cobra.Command) {
	all := &cobra.Command{}
	b.policy.AddPolicyFlags(all)
	b.addFlags(all)
	b.group.addFlags(all)
	all.Flags().StringVar(&b.stateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if c.Flags().Lookup(f.Name) == nil {
			c.Flags().AddFlag(f)
		}
	})
}

// Validate checks the flags of the verb. Errors are of usage.
func (b *Batch) Validate(c *cobra.Command) error { return errors.Join(b.validate(), b.group.read(c)) }

// Staged reports whether the flags say where rollouts stop.
func (b *Batch) Staged() bool {
	policy, err := b.policy.Policy()
	return err == nil && len(policy.Steps) > 0
}

// JSON reports whether events are written as JSON lines.
func (b *Batch) JSON() bool { return b.output == "json" }

// Ask asks a person before something big is changed; yes is the answer beforehand.
func (b *Batch) Ask(ctx context.Context, yes bool, question string) error {
	return b.ask(ctx, yes, question)
}

// Limit has the time of --timeout begin: it is one for all workloads.
func (b *Batch) Limit(now time.Time) {
	if b.timeout > 0 {
		b.by = now.Add(b.timeout)
	}
}

// Within bounds a context by --timeout.
func (b *Batch) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.by.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, b.by)
}

// Part is the rollout of one workload.
type Part struct {
	batch   *Batch
	session *session
	name    resourcearg.Name
	// counted indicates that its partition is a number of pods, as a subset's is.
	counted bool
}

// Open watches the workload that an object is.
func (b *Batch) Open(ctx context.Context, object *resource.Resource) (*Part, error) {
	client, err := b.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	name, err := resourcearg.Parse(resourcearg.FormatName(object))
	if err != nil {
		return nil, err
	}
	found, err := clusterread.FindWorkload(ctx, client, name, object.Namespace())
	if err != nil {
		return nil, err
	}
	if source, ok := sourceOf(found); ok {
		// Where several stand for the source, each is rolled out by its own name.
		if same, err := clusterread.FindWorkload(ctx, client, source, object.Namespace()); err == nil && same.ID() == found.ID() {
			name = source
		}
	}
	p := &Part{batch: b, name: name, session: located(found, name)}
	return p, b.watch(ctx, p.session)
}

// Ref is the workload as its rollout is recorded.
func (p *Part) Ref() cluster.Ref { return p.session.target.Ref }

// Close ends the watches.
func (p *Part) Close() { p.session.Close() }

// sourceOf names the Kruise workload that a native one was rendered from.
func sourceOf(r *resource.Resource) (resourcearg.Name, bool) {
	kind, of, ok := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
	if !ok || r.Annotation(kruise.StrategyAnnotation) == "" {
		return resourcearg.Name{}, false
	}
	name, err := resourcearg.Parse(kind + "." + kruise.Group + "/" + of)
	return name, err == nil
}

// Show makes the plan that leads to a state and shows it, or the one that is under
// way to it. The error says why there is none: another rollout is in progress, or this
// one could not finish.
func (p *Part) Show(ctx context.Context, desired *resource.Resource) error {
	_, err := p.show(ctx, desired)
	return err
}

// show is [Part.Show], and returns the plan.
func (p *Part) show(ctx context.Context, desired *resource.Resource) (plan.Plan, error) {
	m, err := p.make(ctx, desired)
	if err != nil {
		return plan.Plan{}, err
	}
	w, style := p.batch.factory.Streams.Err, view.Style{Color: p.batch.factory.ColorErr()}
	switch rec, err := p.begun(m.Plan); {
	case err != nil:
		return m.Plan, err
	case rec != nil:
		_, _ = fmt.Fprintf(w, "continuing the rollout of %s: %s\n", p.session.target, rec.Describe())
		return rec.Plan, view.Plan(w, rec.Plan, nil, style)
	case len(m.Plan.Steps) == 0:
		return m.Plan, nil
	}
	p.batch.warnOfOwners(p.session.object)
	return m.Plan, view.Plan(w, m.Plan, &m.Predicted.Summary, style)
}

// Replace ends a rollout in progress that leads elsewhere, where the user says so; refused is the error of
// [Part.Show].
func (p *Part) Replace(ctx context.Context, refused error) error {
	return p.batch.replaceOngoing(ctx, p.session, refused, "End it where it is, and apply this instead?")
}

// Plan is the plan that leads to a state, or the one in progress that leads to it.
func (p *Part) Plan(ctx context.Context, desired *resource.Resource) (plan.Plan, error) {
	m, err := p.make(ctx, desired)
	if err != nil {
		return plan.Plan{}, err
	}
	rec, err := p.begun(m.Plan)
	if err != nil || rec == nil {
		return m.Plan, err
	}
	return rec.Plan, nil
}

// Partition is the value of the partition that the plan to a state leaves: a whole number or a percentage.
func (p *Part) Partition(ctx context.Context, desired *resource.Resource) (any, error) {
	to, err := p.Plan(ctx, desired)
	if err != nil {
		return nil, err
	}
	return finalPartition(to), nil
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

// Requests are the writes that carry that plan out, if pods behave.
func (p *Part) Requests(ctx context.Context, desired *resource.Resource) ([]event.Request, error) {
	m, err := p.make(ctx, desired)
	if err != nil {
		return nil, err
	}
	rec, err := p.begun(m.Plan)
	if err != nil || rec == nil {
		return p.requestsOf(m.Plan, m.Acts, err)
	}
	s, err := p.session.Observe(ctx, p.session.target.Ref)
	return p.requestsOf(rec.Plan, left(rec.Plan, s, p.session.Now(), true), err)
}

func (p *Part) requestsOf(of plan.Plan, a acts, err error) ([]event.Request, error) {
	if err != nil || len(of.Steps) == 0 {
		return nil, err
	}
	return p.session.requests(of, a)
}

// Failed is why the last rollout of the workload went no further; "" for one that
// came to its end, or none.
func (p *Part) Failed() (string, error) {
	rec, err := p.session.Rollout()
	if errors.Is(err, plan.ErrNoRollout) {
		return "", nil
	}
	return rec.Progress.Failed, err
}

// Run carries out the plan that leads to a state from the present one, or continues
// with the one in progress that leads to it, and reports whether any step was needed.
// Unless the error is nil the state is not reached; errors of rollouts that come to no
// good end are those of package ending.
func (p *Part) Run(ctx context.Context, desired *resource.Resource) (rolled bool, err error) {
	rolled, _, err = p.run(ctx, desired)
	return rolled, err
}

// run is [Part.Run]; why is the reason of the plan.
func (p *Part) run(ctx context.Context, desired *resource.Resource) (rolled bool, why string, err error) {
	m, err := p.make(ctx, desired)
	if err != nil {
		return false, "", err
	}
	why = m.Plan.Change.Why
	rec, err := p.begun(m.Plan)
	if err != nil || rec == nil && len(m.Plan.Steps) == 0 {
		return false, why, err
	}
	var res apply.Result
	if rec != nil {
		res, err = p.batch.resumeRecorded(ctx, p.session)
	} else {
		res, err = p.batch.start(ctx, p.session, m.Plan)
	}
	switch {
	case err != nil:
		return true, why, err
	case res.Outcome == event.AtPause:
		return true, why, command.ErrPaused
	}
	return true, why, p.batch.end(res)
}

// Pauses reports whether a rollout that waits for a person counts as a success.
func (b *Batch) Pauses() bool { return b.successOn == "paused" }

func (p *Part) make(ctx context.Context, desired *resource.Resource) (*planning.Made, error) {
	o := p.batch.policy
	o.Counted = p.counted
	o.Present = func(ctx context.Context, _ resourcearg.Name, _ string) (*resource.Resource, plan.Snapshot, error) {
		s, err := p.session.Observe(ctx, p.session.target.Ref)
		return p.session.object, s, err
	}
	o.Change = func(*resource.Resource, plan.Snapshot) (*resource.Resource, error) { return desired, nil }
	if err := o.Complete([]string{p.name.String()}); err != nil {
		return nil, err
	}
	return o.Make(ctx)
}

// Settle waits until the workload's controller has brought its pods to where the
// spec wants them.
func (p *Part) Settle(ctx context.Context) error {
	res, err := p.settled(ctx)
	if err != nil {
		return err
	}
	return p.batch.end(res)
}

// settled is [Part.Settle], and returns how it ended.
func (p *Part) settled(ctx context.Context) (apply.Result, error) {
	c, ref := p.session.Cluster, p.session.target.Ref
	s, err := c.Observe(ctx, ref)
	if err != nil {
		return apply.Result{}, err
	}
	bySpec, s := plan.ForSpec(s)
	if plan.Next(bySpec, s, c.Now()).Verb == plan.Done {
		return apply.Result{Outcome: event.Completed}, nil
	}
	policy, err := p.batch.policy.Policy()
	if err != nil {
		return apply.Result{}, err
	}
	return p.batch.watchSpec(ctx, p.session, s, policy)
}

// begun is the rollout in progress that leads where a plan does; nil where none is
// in progress. One that leads elsewhere is an error.
func (p *Part) begun(to plan.Plan) (*plan.Record, error) {
	rec, err := p.session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout), err == nil && !rec.InFlight():
		return nil, nil //nolint:nilnil // that none is in progress is no error
	case err != nil:
		return nil, err
	case !sameGoal(rec.Plan, to):
		return nil, apply.Idle(p.session, plan.TransitionBegin)
	}
	return &rec, nil
}

// sameGoal reports whether a plan leads to the state that another one, which may have
// nothing left to do, leads to.
func sameGoal(a, b plan.Plan) bool {
	if a.RollbackReason != "" || a.Change.ToHash != b.Change.ToHash {
		return false
	}
	updated, kept := goal(a)
	u, k := goal(b)
	return len(b.Steps) == 0 || updated == u && kept == k
}

// goal is how many pods carry the new template in the end, and how many the old.
func goal(p plan.Plan) (updated, kept int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Updated > 0 || s.Kept > 0 {
			updated, kept = s.Updated, s.Kept
		}
	}
	return updated, kept
}
