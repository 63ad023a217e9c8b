// Package create has the verbs that make objects: create from files or flags, distribute from
// a Secret or ConfigMap, expose from a workload, and pull, which makes the jobs that pull an
// image onto nodes. What has no flag of its own is reached by --set.
package create

import (
	"github.com/spf13/cobra"
	native "k8s.io/kubectl/pkg/cmd/create"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const createLong = `Create objects from files, or Kruise objects from flags.

Every kind below has flags for its fields; other fields are set with --set, such as
--set spec.updateStrategy.scatterStrategy[0].key=zone. What Kruise would reject is
reported with its field before anything is sent. With --dry-run=client -o yaml no cluster
is contacted (except for --from and containers that are not named), and the manifest can
be committed.`

const createExample = `  # from a file
  kubectl kruise create -f cloneset.yaml

  # a manifest for Git
  kubectl kruise create sidecarset logs -l app=web --container agent=registry.example.com/agent:1 --dry-run=client -o yaml > logs.yaml`

// NewCreate returns the verb.
func NewCreate(f *factory.Factory) *cobra.Command {
	c := native.NewCmdCreate(kubectl.Factory(f), kubectl.Streams(f))
	c.RemoveCommand(c.Commands()...)
	kubectl.Wrap(c)
	c.Use, c.Short, c.Long, c.Example = "create -f FILE", "Create objects from files, or Kruise objects from flags", createLong, createExample
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return command.Usagef("see '"+c.CommandPath()+" --help'", "unknown kind %q", args[0])
		case !c.Flags().Changed("filename") && !c.Flags().Changed("kustomize"):
			return command.Usagef("or name a kind, see '"+c.CommandPath()+" --help'", "must specify one of -f and -k")
		}
		return nil
	}
	for _, form := range forms {
		c.AddCommand(form(f))
	}
	return c
}

// forms are the kinds, in the order of the help's alphabet.
var forms = []func(*factory.Factory) *cobra.Command{
	newBroadcastJob, newRecreateRequest, newImageListPullJob, newImagePullJob, newPlainJob, newBudget, newDistribution, newSidecarSet,
}
