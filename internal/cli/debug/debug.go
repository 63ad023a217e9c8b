// Package debug has kubectl's verb of that name, and lets it take the pods of a
// workload or of a selector: by an EphemeralJob where there is Kruise, else pod by pod.
package debug

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/kubectl/pkg/cmd/debug"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const long = `Look into pods with a container that is put into them, as kubectl's debug does; a copy of
a pod, and nodes, are kubectl's too.

A selector, or a workload by its TYPE/NAME, stands for all its pods. Where the cluster has
Kruise that makes an EphemeralJob, which also reaches pods that come later; without Kruise
the container is put into one pod after the other.`

const example = `  # a shell beside the container "app" of a pod
  kubectl kruise debug -it web-x2k9p --image busybox --target app

  # run something in all pods of a CloneSet, two at a time
  kubectl kruise debug cloneset/web --image busybox --parallelism 2 -- sh -c 'netstat -tn'

  # show the EphemeralJob that a selector would make
  kubectl kruise debug -l app=web --image busybox --dry-run=client -o yaml`

type options struct {
	*debug.DebugOptions
	factory *factory.Factory
	kubectl cmdutil.Factory

	selector     string
	job          job
	dryRun       cmdutil.DryRunStrategy
	output       *genericclioptions.PrintFlags
	fieldManager string
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{
		DebugOptions: debug.NewDebugOptions(kubectl.Streams(f)), factory: f, kubectl: kubectl.Factory(f),
		output: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme),
	}
	c := &cobra.Command{
		Use: "debug (POD | TYPE/NAME | -l SELECTOR) --image IMAGE [-- COMMAND [ARG …]]", Short: "Debug pods with an ephemeral container", Long: long, Example: example,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), c)
		},
		ValidArgsFunction: completion.PodResourceNameCompletionFunc(o.kubectl),
	}
	o.AddFlags(c)
	o.output.AddFlags(c)
	fl := c.Flags()
	cmdutil.AddLabelSelectorFlagVar(c, &o.selector)
	cmdutil.AddDryRunFlag(c)
	cmdutil.AddFieldManagerFlagVar(c, &o.fieldManager, "kubectl-kruise")
	o.job.flags(fl)
	return c
}

func (o *options) complete(c *cobra.Command, args []string) error {
	var err error
	if o.dryRun, err = cmdutil.GetDryRunStrategy(c); err != nil {
		return command.Usagef("one of: none, client, server", "--dry-run: unknown value %q", c.Flag("dry-run").Value)
	}
	if err := o.Complete(o.kubectl, c, args); err != nil {
		return kubectl.Err(err)
	}
	if o.selector != "" && len(o.TargetNames)+len(o.Filenames) > 0 {
		return command.Usagef("leave one of them out", "a selector cannot be combined with names")
	}
	if o.selector == "" && len(o.TargetNames)+len(o.Filenames) == 0 {
		return command.Usagef("for instance cloneset/web, or -l app=web", "name a pod, a workload, or a selector")
	}
	return nil
}

func (o *options) run(ctx context.Context, c *cobra.Command) error {
	many, err := o.many(ctx)
	if err != nil {
		return kubectl.Err(err)
	}
	if many == nil {
		return o.single(c)
	}
	if err := o.check(); err != nil {
		return err
	}
	version, err := o.jobsServed()
	if err != nil {
		return err
	}
	if version != "" {
		return o.createJob(ctx, *many, version)
	}
	return o.each(ctx, c, *many)
}

// single is what kubectl does itself.
func (o *options) single(c *cobra.Command) error {
	switch {
	case o.dryRun != cmdutil.DryRunNone || o.output.OutputFlagSpecified():
		return command.Usagef("they are for a workload or a selector", "--dry-run and -o show an EphemeralJob, which one pod does not need")
	case o.job != (job{}):
		return command.Usagef("name a workload or a selector", "--replicas, --parallelism and --ttl are for an EphemeralJob")
	}
	if err := o.Validate(); err != nil {
		return command.Usagef("", "%w", err)
	}
	return kubectl.Err(o.Run(o.kubectl, c))
}

// check refuses what makes no sense for many pods.
func (o *options) check() error {
	switch {
	case o.CopyTo != "":
		return command.Usagef("name one pod", "--copy-to is for one pod")
	case o.Interactive || o.TTY || o.Attach:
		return command.Usagef("name one pod", "-i, -t and --attach are for one pod")
	case o.CustomProfileFile != "":
		return command.Usagef("name one pod, or take a --profile", "--custom is for one pod")
	}
	names := o.TargetNames
	o.TargetNames = []string{"pods"} // there are names, or will be
	err := o.Validate()
	if o.TargetNames = names; err != nil {
		return command.Usagef("", "%w", err)
	}
	return nil
}

var errNoPods = errors.New("no pods: nothing to look into")

func (o *options) tell(format string, args ...any) error {
	if o.Quiet {
		return nil
	}
	_, err := fmt.Fprintf(o.ErrOut, format+"\n", args...)
	return err
}
