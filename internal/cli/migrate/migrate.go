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
	fl.StringVar(&o.destination, "dst-name", "", "name of the new workload (default: that of the old one)")
	fl.BoolVar(&o.create, "create", false, "only create the new workload, without replicas")
	fl.BoolVar(&o.copied, "copy", false, "with --create: give the new workload the replicas of the old one")
	fl.Int32Var(&o.replicas, "replicas", -1, "number of replicas to move; -1 means all")
	fl.Int32Var(&o.surge, "max-surge", 1, "number of additional pods during the move; for StatefulSets and DaemonSets, number of pods that are unavailable at the same time")
	fl.Int32Var(&o.seconds, "timeout-seconds", -1, "the same as --timeout, in seconds; -1 means no timeout")
	fl.DurationVar(&o.timeout, "timeout", 0, "how long to wait, such as 10m; 0 means no timeout")
	fl.StringVar(&o.dryRun, "dry-run", "none", "none, client (show the plan), or server (let the server check the new workload, too)")
	fl.Lookup("dry-run").NoOptDefVal = "client"
	fl.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
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

// complete reads the arguments, in the older form or ours. Errors are of usage.
func (o *options) complete(args []string) error {
	if err := command.OneOf("dry-run", o.dryRun, dryRuns...); err != nil {
		return err
	}
	if len(args) != 1 {
		return command.Usagef("for instance: 'kubectl kruise migrate deployment/web --to CloneSet'", "give one workload, or one kind in the older form")
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	read := o.olderForm
	if strings.Contains(args[0], "/") {
		read = o.ourForm
	}
	if err := read(args[0]); err != nil {
		return err
	}
	return o.numbers()
}

func (o *options) ourForm(arg string) error {
	word, name, _ := strings.Cut(arg, "/")
	o.source, o.from, o.to = name, migrate.KindOf(word), migrate.KindOf(o.toWord)
	switch {
	case name == "" || strings.Contains(name, "/"):
		return command.Usagef("for instance deployment/web", "%q is not TYPE/NAME", arg)
	case o.from == nil:
		return command.Usagef("types: "+strings.Join(migrate.Words(), ", ")+"", "replicas of a %s cannot move", word)
	case o.toWord == "":
		return command.Usagef("--to "+o.from.Counterpart.Word, "must specify --to")
	case o.fromWord != "":
		return command.Usagef("", "--from is of the older form: %s has the kind already", arg)
	case o.copied && !o.from.Nodes:
		return command.Usagef("--copy is for --create alone", "--copy and moving replicas exclude each other")
	}
	if o.to != o.from.Counterpart {
		return command.Usagef("one of: "+o.from.Counterpart.Word, "--to: a %s cannot become %q", o.from.Word, o.toWord)
	}
	if o.destination == "" {
		o.destination = name
	}
	return nil
}

// olderForm asks for what the older plugin asks for, in its words.
func (o *options) olderForm(arg string) error {
	o.older = true
	o.to, o.from = migrate.KindOf(arg), migrate.KindOf(o.fromWord)
	switch {
	case o.to == nil:
		return command.Usagef("or name the workload: deployment/web --to CloneSet", "currently only supported %s as dst type", strings.Join(migrate.Words(), ", "))
	case o.factory.Namespace() == "":
		return command.Usagef("", "must specify namespace by -n or --namespace")
	case o.fromWord == "":
		return command.Usagef("", "must specify --from")
	case o.source == "":
		return command.Usagef("", "must specify --src-name")
	case o.destination == "" && !o.create:
		return command.Usagef("", "must specify --dst-name")
	case o.from != o.to.Counterpart:
		return command.Usagef("", "currently only supported %s as src type", o.to.Counterpart.Word)
	case o.copied && !o.create:
		return command.Usagef("", "--copy is for --create alone")
	}
	if o.destination == "" {
		o.destination = o.source
	}
	return nil
}

func (o *options) numbers() error {
	if o.surge == 0 {
		o.surge = 1
	}
	if o.surge < 0 {
		return command.Usagef("", "--max-surge: %d pods at a time are too few", o.surge)
	}
	switch {
	case o.from.Nodes:
		if err := o.nodes(); err != nil {
			return err
		}
	case o.replicas == 0 || o.replicas < -1:
		return command.Usagef("-1 is all", "invalid replicas %d", o.replicas)
	case o.from.Keeps && o.copied:
		return command.Usagef("", "pods of both would have the same names: --copy is not for a %s", o.from.Word)
	case o.from.Keeps && o.destination != o.source:
		return command.Usagef("both sides have the name "+o.source, "pods and claims of a %s have its name, which cannot change", o.from.Word)
	}
	if o.timeout < 0 {
		return command.Usagef("", "--timeout: %s is in the past", o.timeout)
	}
	if o.seconds >= 0 && o.timeout == 0 {
		o.timeout = max(time.Duration(o.seconds)*time.Second, time.Nanosecond)
	}
	return nil
}

// nodes refuses what makes no sense where nodes make the number of pods, and two
// workloads cannot be beside each other.
func (o *options) nodes() error {
	switch {
	case o.replicas != -1:
		return command.Usagef("", "--replicas: nodes make the number of pods of a %s, and all move", o.from.Word)
	case o.create, o.copied:
		return command.Usagef("", "--create, --copy: two of one selector would quarrel about pods")
	case o.destination != o.source:
		return command.Usagef("both sides have the name "+o.source, "pods of a %s are taken over under their names", o.from.Word)
	}
	return nil
}
