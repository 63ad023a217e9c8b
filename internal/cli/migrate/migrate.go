// Package migrate has the verb that moves replicas from a workload to one of the
// counterpart kind: onto Kruise, or off it.
package migrate

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

const long = `Move replicas from a workload to one of the counterpart kind, batch by batch:

  Deployment     <->  CloneSet
  StatefulSet    <->  AdvancedStatefulSet
  DaemonSet      <->  AdvancedDaemonSet

The plan is shown first. Pods of the old workload are removed only when pods of the new
one are available, within PodDisruptionBudgets and PodUnavailableBudgets; pods of a
StatefulSet keep their names and claims, and are moved one by one. A DaemonSet is
deleted and its pods stay; the new one adopts them and replaces them node by node.
Autoscalers are suspended during the move and scale the new workload afterwards; other
references to the old workload are changed, too.

The migration is recorded in the cluster: after an interruption, run the same command
again, from any machine. To move back, swap the two sides, even halfway. The old
workload stays, with the replicas that have not moved (a DaemonSet does not); delete it
once you have verified the new one.

The older form, "migrate KIND --from KIND", creates the new workload with --create, and
moves replicas to it without.`

const example = `  # a Deployment becomes a CloneSet, two pods at a time
  kubectl kruise migrate deployment/web --to CloneSet --max-surge 2

  # only show what would be done
  kubectl kruise migrate statefulset.apps/db --to AdvancedStatefulSet --dry-run

  # and back
  kubectl kruise migrate cloneset/web --to Deployment --yes

  # the older form: make it without replicas, then move some
  kubectl kruise migrate CloneSet --from Deployment -n default --src-name web --dst-name web --create
  kubectl kruise migrate CloneSet --from Deployment -n default --src-name web --dst-name web --replicas 3`

type options struct {
	factory *factory.Factory
	kruise  installation.Flag

	// from and to are the kinds of the two sides, older says that the call has the
	// older plugin's form.
	from, to *migrate.Kind
	older    bool

	fromWord, toWord string
	source           string
	destination      string
	create, copied   bool
	replicas         int32
	surge            int32
	seconds          int32
	timeout          time.Duration
	dryRun           string
	yes              bool
}

var dryRuns = []string{"none", "client", "server"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command { return newCommand(&options{factory: f}) }

func newCommand(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "migrate (TYPE/NAME --to KIND | KIND --from KIND --src-name NAME --dst-name NAME)", Short: "Move replicas to a workload of the counterpart kind",
		Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
		ValidArgsFunction: offers(o.factory),
	}
	o.addFlags(c)
	return c
}

func (o *options) addFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.toWord, "to", "", "kind of the new workload")
	fl.StringVar(&o.fromWord, "from", "", "kind of the old workload, in the older form")
	fl.StringVar(&o.source, "src-name", "", "name of the old workload, in the older form")
	fl.StringVar(&o.destination, "dst-name", "", "name of the new workload; that of the old one by default")
	fl.BoolVar(&o.create, "create", false, "make the new workload, without replicas, and move none")
	fl.BoolVar(&o.copied, "copy", false, "with --create: as many replicas as the old one has")
	fl.Int32Var(&o.replicas, "replicas", -1, "how many replicas move; -1 is all")
	fl.Int32Var(&o.surge, "max-surge", 1, "how many pods there may be beyond those before; of StatefulSets and DaemonSets, how many are away at a time")
	fl.Int32Var(&o.seconds, "timeout-seconds", -1, "how many seconds to wait; -1 waits for whatever it takes")
	fl.DurationVar(&o.timeout, "timeout", 0, "the same, such as 10m")
	fl.StringVar(&o.dryRun, "dry-run", "none", "none, client (show the plan), or server (let the server check the new workload, too)")
	fl.Lookup("dry-run").NoOptDefVal = "client"
	fl.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	o.kruise.Add(c, "that of the cluster")
	command.Offer(c, "to", migrate.Words()...)
	command.Offer(c, "from", migrate.Words()...)
	command.Offer(c, "dry-run", dryRuns...)
}

// offers are the kinds, and behind TYPE/ the names of workloads.
func offers(f *factory.Factory) cobra.CompletionFunc {
	names, kinds := resourcearg.CompleteNames(f), cobra.FixedCompletions(migrate.Words(), cobra.ShellCompDirectiveNoFileComp)
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(typed, "/") {
			return names(c, args, typed)
		}
		return kinds(c, args, typed)
	}
}
