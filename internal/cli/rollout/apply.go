package rollout

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
)

type applyOptions struct {
	execute.Execution

	yes bool
}

func newApply(shared *session.Client) *cobra.Command {
	o := &applyOptions{Execution: execute.Execution{Client: shared}}
	c := &cobra.Command{
		Use: "apply PLAN", Short: "Run a plan from a file",
		Long: `Run a plan that "kubectl kruise plan --out" wrote and that was reviewed. A plan is
pinned to its object and to the template that it was made for: if either has changed
since, nothing is written.`,
		Example: "  kubectl kruise plan cloneset/web --image app=registry.example.com/web:2 --out plan.yaml\n  kubectl kruise rollout apply plan.yaml --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("'kubectl kruise plan --out FILE' writes one; - is standard input", "give one plan")
			}
			if err := errors.Join(o.DryRun.Read(c), o.Check(), o.Detachable(c)); err != nil {
				return err
			}
			return o.run(c.Context(), args[0])
		},
	}
	o.AddExecutionFlags(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	o.Detach.AddFlags(c, &o.Notifications, true)
	o.DryRun.AddFlag(c)
	return c
}

func (o *applyOptions) run(ctx context.Context, file string) error {
	p, err := planning.ReadPlan(file, o.Factory.Streams.In)
	if err != nil {
		return err
	}
	name, err := session.NameOf(p.Target)
	if err != nil {
		return err
	}
	namespace, err := o.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	s, err := o.LocateIn(ctx, name, cmp.Or(p.Target.Namespace, namespace))
	if err == nil {
		err = o.Watch(ctx, s)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	p, snapshot, err := session.Fits(ctx, s, p)
	if err != nil {
		return err
	}
	r := o.Alone(&execute.Member{Session: s, Plan: p, Acts: session.Remaining(p, snapshot, s.Now(), true)})
	if done, err := r.ShowAll(ctx); err != nil || done {
		return err
	}
	if !o.yes { // what runs here is read before the question is answered
		o.Authority.Asks.Commands = true
		if err := o.CheckCommands(p.Commands(0), "the plan"); err != nil {
			return err
		}
	}
	if err := o.Ask(ctx, o.yes, "Run this plan?"); err != nil {
		return err
	}
	return r.RunOrDetach(ctx)
}
