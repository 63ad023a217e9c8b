package execute

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// VerbRunner carries out plans that another verb makes.
type VerbRunner struct {
	Execution

	yes bool
}

// NewVerbRunner returns one with its defaults.
func NewVerbRunner(f *factory.Factory) *VerbRunner {
	return &VerbRunner{Execution: Execution{Client: session.NewClient(f)}}
}

// AddFlags adds the flags that say how the rollout is waited for.
func (o *VerbRunner) AddFlags(c *cobra.Command) {
	o.AddExecutionFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	o.DryRun.AddFlag(c)
	c.Flags().StringVar(&o.StateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
}

// Validate checks the flags of the verb. Errors are of usage.
func (o *VerbRunner) Validate(c *cobra.Command) error {
	return errors.Join(o.DryRun.Read(c), o.Check())
}

// Run has a plan made from what is known of a workload, shows it, asks the question
// and carries it out. A native workload that was rendered from one of Kruise is driven as
// that one, by whichever name it is called.
func (o *VerbRunner) Run(ctx context.Context, name resourcearg.Name, question string, plans func(plan.Snapshot) (plan.Plan, error)) error {
	return o.RunPlanned(ctx, name, o.yes, question, plans)
}

// RunPlanned is [VerbRunner.Run]; yes is the answer to the question.
func (d *Execution) RunPlanned(ctx context.Context, name resourcearg.Name, yes bool, question string, plans func(plan.Snapshot) (plan.Plan, error)) error {
	s, err := d.Source(ctx, name)
	if err != nil {
		return err
	}
	if err := d.Watch(ctx, s); err != nil {
		return err
	}
	defer s.Close()
	if rec, err := s.Rollout(); err == nil && rec.InFlight() && s.Target.Kind == "Pod" {
		// No other verb continues it.
		return d.takeOver(ctx, s)
	}
	if err := apply.Idle(s, plan.TransitionBegin); err != nil {
		return err
	}
	snapshot, err := s.Observe(ctx, s.Target.Ref)
	if err != nil {
		return err
	}
	p, err := plans(snapshot)
	if err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		_, err := fmt.Fprintln(d.Factory.Streams.Out, p.Change.Why)
		return err
	}
	r := d.Alone(&Member{Session: s, Plan: p, Acts: session.Remaining(p, session.Beginning(snapshot), s.Now(), true)})
	if done, err := r.ShowAll(ctx); err != nil || done {
		return err
	}
	if err := d.Ask(ctx, yes, question); err != nil {
		return err
	}
	return r.RunOrDetach(ctx)
}
