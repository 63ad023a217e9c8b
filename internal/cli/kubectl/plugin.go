package kubectl

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd/plugin"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// builtIn are kubectl's own commands, each with those below it: kubectl runs no plugin by
// these names. A test compares them with kubectl.
const builtIn = `annotate
api-resources
api-versions
apply edit-last-applied set-last-applied view-last-applied
attach
auth can-i reconcile whoami
autoscale
certificate approve deny
cluster-info dump
completion
config current-context delete-cluster delete-context delete-user get-clusters get-contexts get-users rename-context set set-cluster set-context set-credentials unset use-context view
cordon
cp
create clusterrole clusterrolebinding configmap cronjob deployment ingress job namespace poddisruptionbudget priorityclass quota role rolebinding secret service serviceaccount token
debug
delete
describe
diff
drain
edit
events
exec
explain
expose
get
help
kuberc set view
kustomize
label
logs
options
patch
plugin list
port-forward
proxy
replace
rollout history pause restart resume status undo
run
scale
set env image resources selector serviceaccount subject
taint
top node pod
uncordon
version
wait
`

// kubectlTree has the names of kubectl's commands, and nothing behind them.
func kubectlTree() *cobra.Command {
	named := func(name string) *cobra.Command {
		return &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
	}
	root := named("kubectl")
	for line := range strings.Lines(builtIn) {
		words := strings.Fields(line)
		c := named(words[0])
		for _, below := range words[1:] {
			c.AddCommand(named(below))
		}
		root.AddCommand(c)
	}
	return root
}

// NoSuchCommand is that of the package command, which tells where a command is kubectl's alone.
func NoSuchCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 && slices.ContainsFunc(kubectlTree().Commands(), func(k *cobra.Command) bool { return k.Name() == args[0] }) {
		return command.UnknownCommand(c, args[0], "kubectl has it: 'kubectl "+args[0]+"'")
	}
	return command.NoSuchCommand(c, args)
}

// plugins is kubectl's command of this name. Its list compares plugins with kubectl's
// commands, where kubectl's code would compare them with those of this program.
func plugins(f *factory.Factory) *cobra.Command {
	streams := Streams(f)
	c := plugin.NewCmdPlugin(streams)
	for _, list := range c.Commands() {
		list.Run = func(c *cobra.Command, _ []string) {
			nameOnly, err := c.Flags().GetBool("name-only")
			cmdutil.CheckErr(err)
			o := &plugin.PluginListOptions{IOStreams: streams, NameOnly: nameOnly}
			cmdutil.CheckErr(o.Complete(kubectlTree()))
			cmdutil.CheckErr(o.Run())
		}
	}
	return c
}
