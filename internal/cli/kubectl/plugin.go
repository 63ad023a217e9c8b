package kubectl

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/plugin"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// builtIn are kubectl's own commands: it runs no plugin by these names. A test compares
// them with kubectl.
var builtIn = strings.Fields(`
	alpha annotate api-resources api-versions apply attach auth autoscale certificate cluster-info completion config cordon cp
	create debug delete describe diff drain edit events exec explain expose get help kuberc kustomize label logs options patch
	plugin port-forward proxy replace rollout run scale set taint top uncordon version wait`)

// plugins is kubectl's command of this name. Its list compares plugins with kubectl's
// commands, where kubectl's code would compare them with those of this program.
func plugins(f *factory.Factory) *cobra.Command {
	streams := Streams(f)
	c := plugin.NewCmdPlugin(streams)
	likeKubectl := &cobra.Command{Use: "kubectl"}
	for _, name := range builtIn {
		likeKubectl.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for _, list := range c.Commands() {
		list.Run = nil
		list.RunE = func(c *cobra.Command, _ []string) error {
			nameOnly, err := c.Flags().GetBool("name-only")
			if err != nil {
				return err
			}
			o := &plugin.PluginListOptions{IOStreams: streams, NameOnly: nameOnly}
			if err := o.Complete(likeKubectl); err != nil {
				return err
			}
			return o.Run()
		}
	}
	return c
}
