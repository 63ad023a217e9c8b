package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Batch are rollouts as a part of what another verb does, by the same policy.
type Batch struct {
	execution

	policy planning.Maker
	group  groupFlags
}

// NewBatch returns a batch with its defaults.
func NewBatch(f *factory.Factory) *Batch {
	b := &Batch{execution: execution{common: newCommon(f)}}
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
func (b *Batch) Validate(c *cobra.Command) error {
	return errors.Join(b.validate(), b.group.read(c), b.policy.CompletePolicy())
}

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

// Pauses reports whether a rollout that waits for a person counts as a success.
func (b *Batch) Pauses() bool { return b.successOn == "paused" }

// Grouped reports whether the flags ask for the rollouts to be carried out as a group.
func (b *Batch) Grouped() bool { return b.group.given }

// Members are workloads of a batch that are rolled out together: one, a group, or the subsets of a
// UnitedDeployment. They are open.
type Members struct {
	*rolling

	batch *Batch
	// from are the files or directories of the workloads, by which a group has its name.
	from []string
	end  func()
}

// Members begins with no workload.
func (b *Batch) Members(ctx context.Context, from []string) (m *Members, err error) {
	m = &Members{rolling: &rolling{execution: &b.execution}, batch: b, from: from, end: func() {}}
	if b.group.given {
		m.end, err = b.share(ctx)
	}
	return m, err
}

// Close ends the watches.
func (g *Members) Close() {
	g.close()
	g.end()
}

// open watches the workload that an object is.
func (b *Batch) open(ctx context.Context, object *resource.Resource) (*member, error) {
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
	m := &member{called: name, session: located(found, name)}
	return m, b.watch(ctx, m.session)
}

// sourceOf names the Kruise workload that a native one was rendered from.
func sourceOf(r *resource.Resource) (resourcearg.Name, bool) {
	kind, of, ok := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
	if !ok || r.Annotation(kruise.StrategyAnnotation) == "" {
		return resourcearg.Name{}, false
	}
	name, err := resourcearg.Parse(kind + "." + kruise.Group + "/" + of)
	return name, err == nil
}

// Add makes the plan that leads the workload which an object is to a state, and returns the name of
// its rollout. One that is in progress towards that state continues; the error says why there is no
// plan. released indicates that the state takes away what holds pods back: then one whose last
// rollout has failed is refused, which gets no further by that.
func (g *Members) Add(ctx context.Context, object, desired *resource.Resource, released bool) (cluster.Ref, error) {
	m, err := g.batch.open(ctx, object)
	if err != nil {
		return cluster.Ref{}, err
	}
	if released {
		err = m.hasNotFailed()
	}
	if err == nil {
		err = m.make(ctx, g.batch.policy, desired)
	}
	if err != nil {
		m.session.Close()
		return m.ref(), err
	}
	g.add(m)
	return m.ref(), nil
}

// AddUnited has the subsets of a UnitedDeployment follow its final state; a group cannot have them.
func (g *Members) AddUnited(ctx context.Context, final *unstructured.Unstructured, released bool) (cluster.Ref, error) {
	if g.batch.Grouped() {
		return cluster.Ref{}, command.Usagef("apply it without the flags of a group: its subsets follow one after the other", "a UnitedDeployment cannot be in a group of rollouts")
	}
	s, err := g.batch.subsets(ctx, final.GetNamespace(), final.GetName(), g.batch.policy)
	if err != nil {
		return cluster.Ref{}, err
	}
	if err := s.toManifest(ctx, final, released); err != nil {
		return s.ref(), err
	}
	r, err := s.members(ctx, s.object.Template)
	if err == nil {
		g.rolling = r
	}
	return s.ref(), err
}

// hasNotFailed refuses a workload that its last rollout has left halfway.
func (m *member) hasNotFailed() error {
	rec, err := m.session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err == nil && rec.Progress.Failed != "":
		return &resource.Error{
			Err:  fmt.Errorf("its last rollout failed: %s", rec.Progress.Failed),
			Hint: fmt.Sprintf("mend that and '%s', or '%s --rollback'; then apply again", rec.Plan.Target.Command("retry"), rec.Plan.Target.Command("abort")),
		}
	}
	return err
}

// Replace ends the rollout of the workload which an object is that leads elsewhere, where the user
// says so; refused is the error of [Members.Add].
func (b *Batch) Replace(ctx context.Context, object *resource.Resource, refused error) error {
	m, err := b.open(ctx, object)
	if err != nil {
		return err
	}
	defer m.session.Close()
	return b.replaceOngoing(ctx, m.session, refused, "End it where it is, and apply this instead?")
}

// Show shows every plan, and the order of several. The error says why they cannot be carried out.
func (g *Members) Show(ctx context.Context) error {
	if g.united == nil {
		if err := g.assemble(&g.batch.group, g.from...); err != nil {
			return err
		}
		for _, m := range g.members {
			g.warnOfOwners(m.session.object)
		}
	}
	_, err := g.show(ctx)
	return err
}

// Requests are the writes that carry the plans out, if pods behave.
func (g *Members) Requests() ([]event.Request, error) { return g.requests() }

// Partition is the value of the partition that the plan of a workload leaves: a whole number or a percentage.
func (g *Members) Partition(of cluster.Ref) any {
	for _, m := range g.members {
		if m.ref() == of {
			return finalPartition(m.plan)
		}
	}
	return int64(0)
}

// Run carries the rollouts out. It returns how far each workload has come that had something to
// roll out; unless the error is nil, not all are completed.
func (g *Members) Run(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	if g.united == nil {
		if err := g.assemble(&g.batch.group, g.from...); err != nil || len(g.members) == 0 {
			return nil, err
		}
	}
	return g.run(ctx)
}

// Settle waits until the controller of the workload which an object is, or those of all subsets, have
// brought their pods to where the spec wants them.
func (b *Batch) Settle(ctx context.Context, object *resource.Resource) error {
	if object.Is(kruise.Group, kruise.KindUnitedDeployment) {
		s, err := b.subsets(ctx, object.Namespace(), object.Name(), b.policy)
		if err != nil {
			return err
		}
		return s.settleAll(ctx)
	}
	m, err := b.open(ctx, object)
	if err != nil {
		return err
	}
	defer m.session.Close()
	res, err := b.settle(ctx, m.session, b.policy)
	if err != nil {
		return err
	}
	return b.end(res)
}

// settle is [Batch.Settle] for a workload that is open, and returns how it ended: it waits no longer
// than a step of the policy would.
func (d *execution) settle(ctx context.Context, s *session, by planning.Maker) (apply.Result, error) {
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return apply.Result{}, err
	}
	bySpec, snapshot := plan.ForSpec(snapshot)
	if plan.Next(bySpec, snapshot, s.Now()).Verb == plan.Done {
		return apply.Result{Outcome: event.Completed}, nil
	}
	policy, err := by.Policy()
	if err != nil {
		return apply.Result{}, err
	}
	p := d.eventPrinter("")
	defer p.stop()
	return apply.WatchSpec(ctx, s, s.target.Ref, apply.Options{Emit: p.event, Until: apply.TimeIn(s, d.until()), Limit: plan.SpecTimeout(snapshot, policy)})
}
