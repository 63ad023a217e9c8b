package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

const spreadLong = `Show where the pods of a workload are, compared with what a WorkloadSpread or a
UnitedDeployment wants: for each subset its limit, the desired, actual and ready pods,
and why the numbers differ. A workload name means the WorkloadSpread that spreads it.
"kubectl kruise why" shows the same, with what keeps a rollout.`

const spreadExample = `  kubectl kruise spread workloadspread/web

  # by the workload, with each pod
  kubectl kruise spread cloneset/web --pods

  kubectl kruise spread uniteddeployment/web -o json`

type spreadOptions struct {
	factory *factory.Factory
	pods    bool
	output  string
}

var spreadOutputs = []string{"text", "json"}

// NewSpread returns the verb.
func NewSpread(f *factory.Factory) *cobra.Command {
	o := &spreadOptions{factory: f}
	c := &cobra.Command{
		Hidden: true, Use: "spread TYPE/NAME", Short: "Show how pods are spread over subsets", Long: spreadLong, Example: spreadExample,
		RunE:              func(c *cobra.Command, args []string) error { return o.run(c.Context(), args) },
		ValidArgsFunction: kubectl.Names(f, "workloadspread", "uniteddeployment"),
	}
	c.Flags().BoolVar(&o.pods, "pods", false, "also list the pods")
	c.Flags().StringVarP(&o.output, "output", "o", spreadOutputs[0], "output format: text or json")
	command.Offer(c, "output", spreadOutputs...)
	return c
}

func (o *spreadOptions) run(ctx context.Context, args []string) error {
	if err := command.OneOf("output", o.output, spreadOutputs...); err != nil {
		return err
	}
	if len(args) == 0 || len(args) > 2 {
		return command.Usagef("for instance workloadspread/web, uniteddeployment/web or cloneset/web", "expected one object")
	}
	p, err := clusterread.ReadPlacement(ctx, o.factory, args...)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return view.JSON(o.factory.Streams.Out, p)
	}
	return view.Placement(o.factory.Streams.Out, p, o.pods, o.factory.OutStyle(false))
}
