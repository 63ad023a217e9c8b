package change

import (
	"github.com/spf13/cobra"
	autoscalecmd "k8s.io/kubectl/pkg/cmd/autoscale"
	scalecmd "k8s.io/kubectl/pkg/cmd/scale"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// scaleTypes are those with a subresource scale, for completion.
var scaleTypes = []string{"cloneset", "statefulset.apps.kruise.io", "uniteddeployment", "deployment", "statefulset", "replicaset", "replicationcontroller"}

// NewScale returns the verb scale.
func NewScale(f *factory.Factory) *cobra.Command {
	c := wrapScale(f, scalecmd.NewCmdScale(kubectl.Factory(f), kubectl.Streams(f)), "Set the number of pods of a workload",
		`Set the number of pods of a workload of any kind with the subresource scale, including
Kruise's. If the number is reduced, the workload chooses the pods to delete; with
"kubectl kruise scaledown" you name them. A rollout in progress continues with the new
number, and a note says what that means for its steps.`,
		`  kubectl kruise scale cloneset/web --replicas=5

  # only if it has 3 now
  kubectl kruise scale uniteddeployment/web --current-replicas=3 --replicas=5`)
	scale := guarded(f, c, noteScaledObjects).RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		chosen := c.Flags().Changed("all") || c.Flags().Changed("selector")
		return resourcearg.Fallback{Factory: f, Single: "scale", Chosen: chosen}.Do(c.Context(), args, func(args []string) error { return scale(c, args) })
	}
	return c
}

// NewAutoscale returns the verb autoscale.
func NewAutoscale(f *factory.Factory) *cobra.Command {
	return wrapScale(f, autoscalecmd.NewCmdAutoscale(kubectl.Factory(f), kubectl.Streams(f)), "Autoscale a workload by its load",
		`Create a HorizontalPodAutoscaler for a workload of any kind with the subresource scale,
including Kruise's.`,
		`  kubectl kruise autoscale cloneset/web --min=2 --max=10 --cpu=80%

  kubectl kruise autoscale statefulset.apps.kruise.io/db --max=5 --memory=200Mi --dry-run=client -o yaml`)
}

// wrapScale is a command of kubectl with help of its own.
func wrapScale(f *factory.Factory, c *cobra.Command, short, long, example string) *cobra.Command {
	c.ValidArgsFunction = kubectl.Names(f, scaleTypes...)
	kubectl.Wrap(c)
	c.Short, c.Long, c.Example = short, long, example
	return c
}
