package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
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
	Execution

	policy planning.Maker
	group  GroupFlags
}

// NewBatch returns a batch with its defaults.
func NewBatch(f *factory.Factory) *Batch {
	b := &Batch{Execution: Execution{Client: session.NewClient(f)}}
	b.policy.Factory = f
	return b
}

// AddFlags adds the flags that say how workloads are rolled out and waited for. A
// flag that the verb has already stays its own.
func (b *Batch) AddFlags(c *cobra.Command) {
	all := &cobra.Command{}
	b.policy.AddPolicyFlags(all)
	b.AddExecutionFlags(all)
	b.group.AddFlags(all)
	all.Flags().StringVar(&b.StateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if c.Flags().Lookup(f.Name) == nil {
			c.Flags().AddFlag(f)
		}
	})
}

// Validate checks the flags of the verb. Errors are of usage.
func (b *Batch) Validate(c *cobra.Command) error {
	return errors.Join(b.Check(), b.group.Read(c), b.policy.CompletePolicy())
}

// Staged reports whether the flags say where rollouts stop.
func (b *Batch) Staged() bool {
	policy, err := b.policy.Policy()
	return err == nil && len(policy.Steps) > 0
}

// JSON reports whether events are written as JSON lines.
func (b *Batch) JSON() bool { return b.Output == "json" }

// Limit has the time of --timeout begin: it is one for all workloads.
func (b *Batch) Limit(now time.Time) {
	if b.Timeout > 0 {
		b.by = now.Add(b.Timeout)
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
func (b *Batch) Pauses() bool { return b.SuccessOn == "paused" }

// Grouped reports whether the flags ask for the rollouts to be carried out as a group.
func (b *Batch) Grouped() bool { return b.group.Given }

// Members are workloads of a batch that are rolled out together: one, a group, or the subsets of a
// UnitedDeployment. They are open.
type Members struct {
	*Rolling

	batch *Batch
	// from are the files or directories of the workloads, by which a group has its name.
	from []string
	end  func()
}

// Members begins with no workload.
func (b *Batch) Members(ctx context.Context, from []string) (m *Members, err error) {
	m = &Members{Rolling: &Rolling{Execution: &b.Execution}, batch: b, from: from, end: func() {}}
	if b.group.Given {
		m.end, err = b.Share(ctx)
	}
	return m, err
}

// Close ends the watches.
func (g *Members) Close() {
	g.CloseAll()
	g.end()
}

// open watches the workload that an object is.
func (b *Batch) open(ctx context.Context, object *resource.Resource) (*Member, error) {
	client, err := b.Factory.Dynamic()
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
	if source, ok := session.SourceOf(found); ok {
		// Where several stand for the source, each is rolled out by its own name.
		if same, err := clusterread.FindWorkload(ctx, client, source, object.Namespace()); err == nil && same.ID() == found.ID() {
			name = source
		}
	}
	m := &Member{Called: name, Session: session.Located(found, name)}
	return m, b.Watch(ctx, m.Session)
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
		m.Session.Close()
		return m.Ref(), err
	}
	g.AddMember(m)
	return m.Ref(), nil
}

// AddUnited has the subsets of a UnitedDeployment follow its final state; a group cannot have them.
func (g *Members) AddUnited(ctx context.Context, final *unstructured.Unstructured, released bool) (cluster.Ref, error) {
	if g.batch.Grouped() {
		return cluster.Ref{}, command.Usagef("apply it without the flags of a group: its subsets follow one after the other", "a UnitedDeployment cannot be in a group of rollouts")
	}
	s, err := g.batch.Subsets(ctx, final.GetNamespace(), final.GetName(), g.batch.policy)
	if err != nil {
		return cluster.Ref{}, err
	}
	if err := s.toManifest(ctx, final, released); err != nil {
		return s.ref(), err
	}
	r, err := s.Rolling(ctx, s.Object.Template)
	if err == nil {
		g.Rolling = r
	}
	return s.ref(), err
}

// hasNotFailed refuses a workload that its last rollout has left halfway.
func (m *Member) hasNotFailed() error {
	rec, err := m.Session.Rollout()
	switch {
	case errors.Is(err, plan.ErrNoRollout):
		return nil
	case err == nil && rec.Progress.Failed != "":
		return &resource.Error{
			Err:  fmt.Errorf("its last rollout failed: %s", rec.Progress.Failed),
			Hint: "mend that and 'kubectl kruise rollout retry', or 'kubectl kruise rollout abort --rollback'; then apply again",
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
	defer m.Session.Close()
	return b.ReplaceOngoing(ctx, m.Session, refused, "End it where it is, and apply this instead?")
}

// Show shows every plan, and the order of several. The error says why they cannot be carried out.
func (g *Members) Show(ctx context.Context) error {
	if g.united == nil {
		if err := g.Assemble(&g.batch.group, g.from...); err != nil {
			return err
		}
		for _, m := range g.Members {
			g.WarnOfOwners(m.Session.Object)
		}
	}
	_, err := g.ShowAll(ctx)
	return err
}

// Requests are the writes that carry the plans out, if pods behave.
func (g *Members) Requests() ([]event.Request, error) { return g.requests() }

// Partition is the value of the partition that the plan of a workload leaves: a whole number or a percentage.
func (g *Members) Partition(of cluster.Ref) any {
	for _, m := range g.Members {
		if m.Ref() == of {
			return finalPartition(m.Plan)
		}
	}
	return int64(0)
}

// Run carries the rollouts out. It returns how far each workload has come that had something to
// roll out; unless the error is nil, not all are completed.
func (g *Members) Run(ctx context.Context) (map[cluster.Ref]plan.Phase, error) {
	if g.united == nil {
		if err := g.Assemble(&g.batch.group, g.from...); err != nil || len(g.Members) == 0 {
			return nil, err
		}
	}
	return g.RunAll(ctx)
}

// Settle waits until the controller of the workload which an object is, or those of all subsets, have
// brought their pods to where the spec wants them.
func (b *Batch) Settle(ctx context.Context, object *resource.Resource) error {
	if object.Is(kruise.Group, kruise.KindUnitedDeployment) {
		s, err := b.Subsets(ctx, object.Namespace(), object.Name(), b.policy)
		if err != nil {
			return err
		}
		return s.settleAll(ctx)
	}
	m, err := b.open(ctx, object)
	if err != nil {
		return err
	}
	defer m.Session.Close()
	res, err := b.settle(ctx, m.Session, b.policy)
	if err != nil {
		return err
	}
	return b.Ending(res)
}

// settle is [Batch.Settle] for a workload that is open, and returns how it ended: it waits no longer
// than a step of the policy would.
func (d *Execution) settle(ctx context.Context, s *session.Session, by planning.Maker) (apply.Result, error) {
	snapshot, err := s.Observe(ctx, s.Target.Ref)
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
	p := d.EventPrinter("")
	defer p.Stop()
	return apply.WatchSpec(ctx, s, s.Target.Ref, apply.Options{Emit: p.Event, Until: apply.TimeIn(s, d.Until()), Limit: plan.SpecTimeout(snapshot, policy)})
}
