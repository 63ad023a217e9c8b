package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// VerbRunner carries out plans that another verb makes.
type VerbRunner struct {
	execution

	yes bool
}

// NewVerbRunner returns one with its defaults.
func NewVerbRunner(f *factory.Factory) *VerbRunner {
	return &VerbRunner{execution: execution{common: newCommon(f)}}
}

// AddFlags adds the flags that say how the rollout is waited for.
func (o *VerbRunner) AddFlags(c *cobra.Command) {
	o.addFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	o.dryRun.AddFlag(c)
	c.Flags().StringVar(&o.stateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
}

// Validate checks the flags of the verb. Errors are of usage.
func (o *VerbRunner) Validate(c *cobra.Command) error {
	return errors.Join(o.dryRun.Read(c), o.validate())
}

// Run has a plan made from what is known of a workload, shows it, asks the question
// and carries it out. A native workload that was rendered from one of Kruise is driven as
// that one, by whichever name it is called.
func (o *VerbRunner) Run(ctx context.Context, name resourcearg.Name, question string, plans func(plan.Snapshot) (plan.Plan, error)) error {
	return o.planned(ctx, name, o.yes, question, plans)
}

// planned is [VerbRunner.Run]; yes is the answer to the question.
func (d *execution) planned(ctx context.Context, name resourcearg.Name, yes bool, question string, plans func(plan.Snapshot) (plan.Plan, error)) error {
	s, err := d.source(ctx, name)
	if err != nil {
		return err
	}
	if err := d.watch(ctx, s); err != nil {
		return err
	}
	defer s.Close()
	if rec, err := s.Rollout(); err == nil && rec.InFlight() && s.target.Kind == "Pod" {
		// No other verb continues it.
		return d.takeOver(ctx, s)
	}
	if err := apply.Idle(s, plan.TransitionBegin); err != nil {
		return err
	}
	snapshot, err := s.Observe(ctx, s.target.Ref)
	if err != nil {
		return err
	}
	p, err := plans(snapshot)
	if err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		_, err := fmt.Fprintln(d.factory.Streams.Out, p.Change.Why)
		return err
	}
	r := d.alone(&member{session: s, plan: p, acts: left(p, beginning(snapshot), s.Now(), true)})
	if done, err := r.show(ctx); err != nil || done {
		return err
	}
	if err := d.ask(ctx, yes, question); err != nil {
		return err
	}
	return r.begin(ctx)
}

// source is where a workload is, or the one of Kruise that it was rendered from.
func (c *common) source(ctx context.Context, name resourcearg.Name) (*session, error) {
	s, err := c.locate(ctx, name)
	if err != nil {
		return nil, err
	}
	if source, ok := sourceOf(s.object); ok && s.target.Kind != "Pod" {
		if same, err := c.locate(ctx, source); err == nil && same.object.ID() == s.object.ID() {
			return same, nil
		}
	}
	return s, nil
}
