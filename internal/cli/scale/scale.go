// Package scale has the verbs that say how many pods a workload has, at once or by an
// autoscaler. They are kubectl's, which go by the subresource scale of any kind.
package scale

import (
	"github.com/spf13/cobra"
	autoscalecmd "k8s.io/kubectl/pkg/cmd/autoscale"
	scalecmd "k8s.io/kubectl/pkg/cmd/scale"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

// types are those with a subresource scale, for completion.
var types = []string{"cloneset", "statefulset.apps.kruise.io", "uniteddeployment", "deployment", "statefulset", "replicaset", "replicationcontroller"}

// New returns the verb scale.
func New(f *factory.Factory) *cobra.Command {
	c := ours(f, scalecmd.NewCmdScale(kubectl.Factory(f), kubectl.Streams(f)), "Set how many pods a workload has",
		`Set how many pods a workload has: any kind with a subresource scale, Kruise's among
them. Which pods go when it has fewer is the workload's choice; "kubectl kruise
scaledown" names them.`,
		`  kubectl kruise scale cloneset/web --replicas=5

  # only if it has 3 now
  kubectl kruise scale uniteddeployment/web --current-replicas=3 --replicas=5`)
	scale := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		chosen := c.Flags().Changed("all") || c.Flags().Changed("selector")
		return resourcearg.Fallback{Factory: f, Single: "scale", Chosen: chosen}.Do(c.Context(), args, func(args []string) error { return scale(c, args) })
	}
	return c
}

// NewAutoscale returns the verb autoscale.
func NewAutoscale(f *factory.Factory) *cobra.Command {
	return ours(f, autoscalecmd.NewCmdAutoscale(kubectl.Factory(f), kubectl.Streams(f)), "Have a workload scaled by its load",
		`Make a HorizontalPodAutoscaler for a workload: any kind with a subresource scale,
Kruise's among them.`,
		`  kubectl kruise autoscale cloneset/web --min=2 --max=10 --cpu=80%

  kubectl kruise autoscale statefulset.apps.kruise.io/db --max=5 --memory=200Mi --dry-run=client -o yaml`)
}

// ours is a command of kubectl with help of its own.
func ours(f *factory.Factory, c *cobra.Command, short, long, example string) *cobra.Command {
	c.ValidArgsFunction = kubectl.Names(f, types...)
	kubectl.Wrap(c)
	c.Short, c.Long, c.Example = short, long, example
	return c
}
