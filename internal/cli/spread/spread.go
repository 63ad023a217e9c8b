// Package spread has the verb that shows where the pods of a workload are, against
// where a WorkloadSpread or UnitedDeployment would have them. It reads and writes
// nothing.
package spread

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const long = `Show where the pods of a workload are, compared with what a WorkloadSpread or a
UnitedDeployment wants: for each subset its limit, the desired, actual and ready pods,
and why the numbers differ. A workload name means the WorkloadSpread that spreads it.`

const example = `  kubectl kruise spread workloadspread/web

  # by the workload, with each pod
  kubectl kruise spread cloneset/web --pods

  kubectl kruise spread uniteddeployment/web -o json`

type options struct {
	factory *factory.Factory
	pods    bool
	output  string
}

var outputs = []string{"text", "json"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use: "spread TYPE/NAME", Short: "Show how pods are spread over subsets", Long: long, Example: example,
		RunE:              func(c *cobra.Command, args []string) error { return o.run(c.Context(), args) },
		ValidArgsFunction: kubectl.Names(f, "workloadspread", "uniteddeployment"),
	}
	c.Flags().BoolVar(&o.pods, "pods", false, "list the pods, too")
	c.Flags().StringVarP(&o.output, "output", "o", outputs[0], "text or json")
	command.Offer(c, "output", outputs...)
	return c
}

func (o *options) run(ctx context.Context, args []string) error {
	if err := command.OneOf("output", o.output, outputs...); err != nil {
		return err
	}
	if len(args) == 0 || len(args) > 2 {
		return command.Usagef("for instance workloadspread/web, uniteddeployment/web or cloneset/web", "one object is wanted")
	}
	p, err := o.read(ctx, args)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return inJSON(o.factory.Streams.Out, p)
	}
	return text(o.factory.Streams.Out, p, o.pods)
}
