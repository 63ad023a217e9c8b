package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/kubectl/pkg/cmd/debug"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/scheme"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

const debugLong = `Debug pods with an ephemeral container, a copy of a pod, or a node, as kubectl debug does.

A selector, or a workload given as TYPE/NAME, means all of its pods. On a cluster with
Kruise this creates an EphemeralJob, which also reaches pods that are created later;
without Kruise the container is added to one pod after the other.`

const debugExample = `  # a shell beside the container "app" of a pod
  kubectl kruise debug -it web-x2k9p --image busybox --target app

  # run something in all pods of a CloneSet, two at a time
  kubectl kruise debug cloneset/web --image busybox --parallelism 2 -- sh -c 'netstat -tn'

  # show the EphemeralJob for a selector
  kubectl kruise debug -l app=web --image busybox --dry-run=client -o yaml`

type debugOptions struct {
	*debug.DebugOptions
	factory *factory.Factory
	kubectl cmdutil.Factory

	selector     string
	job          debugJob
	dryRun       cmdutil.DryRunStrategy
	output       *genericclioptions.PrintFlags
	fieldManager string
}

// NewDebug returns the verb.
func NewDebug(f *factory.Factory) *cobra.Command {
	o := &debugOptions{
		DebugOptions: debug.NewDebugOptions(kubectl.RawStreams(f)), factory: f, kubectl: kubectl.Factory(f),
		output: genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme),
	}
	c := &cobra.Command{
		Use: "debug (POD | TYPE/NAME | -l SELECTOR) --image IMAGE [-- COMMAND [ARG …]]", Short: "Debug pods with an ephemeral container", Long: debugLong, Example: debugExample,
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

func (o *debugOptions) complete(c *cobra.Command, args []string) error {
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

func (o *debugOptions) run(ctx context.Context, c *cobra.Command) error {
	many, err := o.selectPods(ctx)
	if err != nil {
		return kubectl.Err(err)
	}
	if many == nil {
		return o.validateSingle(c)
	}
	if err := o.check(); err != nil {
		return err
	}
	d, err := o.factory.Discovery()
	if err != nil {
		return err
	}
	version, err := clusterread.ServedVersion(d, ephemeralJobs)
	if err != nil {
		return err
	}
	if version != "" {
		return o.createJob(ctx, *many, version)
	}
	return o.debugEachPod(ctx, c, *many)
}

// validateSingle makes the checks that kubectl makes itself.
func (o *debugOptions) validateSingle(c *cobra.Command) error {
	switch {
	case o.dryRun != cmdutil.DryRunNone || o.output.OutputFlagSpecified():
		return command.Usagef("they are for a workload or a selector", "--dry-run and -o show an EphemeralJob, which one pod does not need")
	case o.job != (debugJob{}):
		return command.Usagef("name a workload or a selector", "--replicas, --parallelism and --ttl are for an EphemeralJob")
	}
	if err := o.Validate(); err != nil {
		return command.Usagef("", "%w", err)
	}
	return kubectl.Err(o.Run(o.kubectl, c))
}

// check refuses what makes no sense for many pods.
func (o *debugOptions) check() error {
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

func (o *debugOptions) printNote(format string, args ...any) error {
	if o.Quiet {
		return nil
	}
	_, err := fmt.Fprintf(o.ErrOut, format+"\n", args...)
	return err
}

// selectPods returns the pods of a selector or of a workload; nil where pods or nodes are named
// one by one.
func (o *debugOptions) selectPods(ctx context.Context) (*resourcearg.PodSelection, error) {
	if o.selector != "" {
		s, err := labels.Parse(o.selector)
		if err != nil {
			return nil, command.Usagef("for instance app=web", "-l: %w", err)
		}
		return &resourcearg.PodSelection{Namespace: o.Namespace, Selector: s}, nil
	}
	if len(o.TargetNames) != 1 || !resourcearg.NamesNonPod(o.TargetNames[0]) || isNode(o.TargetNames[0]) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	find := &resourcearg.Finder{Factory: o.kubectl, Namespace: o.Namespace}
	u, err := find.Named(ctx, o.TargetNames[0])
	if err != nil {
		return nil, err
	}
	chosen, err := resourcearg.PodsOf(ctx, u, find.Get)
	if err != nil || chosen.Name != "" {
		o.TargetNames = []string{chosen.Name}
		return nil, err
	}
	return &chosen, nil
}

func isNode(arg string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(arg), "/")
	return kind == "node" || kind == "nodes" || kind == "no"
}

// debugEachPod adds the container to one pod after the other.
func (o *debugOptions) debugEachPod(ctx context.Context, c *cobra.Command, chosen resourcearg.PodSelection) error {
	if err := o.withoutJob(); err != nil {
		return err
	}
	client, err := o.kubectl.KubernetesClientSet()
	if err != nil {
		return err
	}
	list, err := chosen.List(ctx, client.CoreV1())
	if err != nil {
		return err
	}
	o.TargetNames, o.Filenames = runningPods(list), nil
	if len(o.TargetNames) == 0 {
		return errNoPods
	}
	if o.Container == "" {
		o.Container = "debugger-" + nameSuffix()
	}
	if err := o.printNote("no Kruise here: container %s is put into %s", o.Container, strings.Join(o.TargetNames, ", ")); err != nil {
		return err
	}
	return kubectl.Err(o.Run(o.kubectl, c))
}

// withoutJob refuses what only an EphemeralJob can do.
func (o *debugOptions) withoutJob() error {
	switch {
	case o.job != (debugJob{}):
		return command.Usagef("leave them out", "--replicas, --parallelism and --ttl need Kruise, which this cluster has not")
	case o.dryRun != 0 || o.output.OutputFlagSpecified():
		return command.Usagef("name one pod with kubectl debug", "--dry-run and -o show an EphemeralJob, and this cluster has no Kruise")
	}
	return nil
}

// runningPods are the pods into which a container can be put.
func runningPods(list []corev1.Pod) []string {
	var out []string
	for i := range list {
		p := &list[i]
		if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			out = append(out, p.Name)
		}
	}
	return out
}
