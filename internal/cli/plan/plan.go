// Package plan is the verb that says what a change of a workload will do, before
// anything is touched.
package plan

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
)

const long = `Preview the effect of a change of a workload before anything is written: whether pods
are updated in place or recreated, and why; which pods in which order and steps; how
many are unavailable at once; and how long it will take.

The current state is read from the cluster. With --against FILE it is read from a file:
then no kubeconfig is needed, and pods are made up unless --with has them. A plan that
cannot finish is refused, with the reason.

If -f or -k contain several workloads, there is a plan for each one that changes, in
their order; -o json is then a List, -o yaml a document for each, and --out a directory
with a file for each.`

const example = `  # what a new image would do
  kubectl kruise plan cloneset/web --image app=registry.example.com/web:2

  # a manifest, in steps, with a pause after the first; kept for the rollout
  kubectl kruise plan -f web.yaml --steps 1,10%,50%,100% --pause-after 1 --out plan.yaml

  # all workloads of an overlay that change, each plan in a file of its own
  kubectl kruise plan -k overlays/prod --out plans

  # in a pull request: from files alone, as a comment and as a picture
  kubectl kruise plan -f new/web.yaml --against old/web.yaml --pods 40 -o markdown
  kubectl kruise plan -f new/web.yaml --against old/web.yaml --pods 40 -o svg > plan.svg

  # for reviewers without a terminal: one file for any browser
  kubectl kruise plan -k overlays/prod -o html > plan.html`

type options struct {
	factory *factory.Factory
	planning.Options

	output  string
	out     string
	verbose bool
}

var outputs = []string{"text", "yaml", "json", "markdown", "svg", "html"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, Options: planning.Options{Factory: f}}
	c := &cobra.Command{
		Use:     "plan [TYPE/NAME] (--image CONTAINER=IMAGE | -f FILE | -k DIR)",
		Short:   "Preview the effect of a change, pod by pod",
		Long:    long,
		Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(c.Context())
		},
	}
	o.AddFlags(c)
	c.Flags().StringVarP(&o.output, "output", "o", outputs[0], strings.Join(outputs, ", "))
	c.Flags().StringVar(&o.out, "out", "", "also write the plan into this file, for review and for the rollout; of several workloads, into files in this folder")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "name every pod, every patch and every condition")
	command.Offer(c, "output", outputs...)
	c.ValidArgsFunction = resourcearg.CompleteNames(f)
	return c
}

func (o *options) complete(args []string) error {
	if err := command.OneOf("output", o.output, outputs...); err != nil {
		return err
	}
	if len(args) == 1 {
		if name, ok := resourcearg.ParseUnited(args[0]); ok {
			return o.CompleteUnited(name)
		}
	}
	return o.Complete(args)
}

func (o *options) run(ctx context.Context) error {
	defer o.factory.Working("planning")()
	many, err := o.Each(ctx)
	if err != nil {
		return err
	}
	if many != nil {
		return o.runSeveral(ctx, many)
	}
	m, err := o.Make(ctx)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := emit.File(o.out, planfile.Write(m.Plan)); err != nil {
			return err
		}
		o.say("wrote %s", o.out)
	}
	digest, err := o.digest(ctx, m)
	if err != nil {
		return err
	}
	if err := o.print(func(w io.Writer) error { return o.write(w, m, digest) }); err != nil {
		return err
	}
	if digest != "" {
		o.say("digest: %s", digest)
	}
	return nil
}

// print writes to stdout through a buffer.
func (o *options) print(write func(io.Writer) error) error {
	w := bufio.NewWriter(o.factory.Streams.Out)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// say writes a line to stderr.
func (o *options) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.factory.Streams.Err, format+"\n", args...)
}

// digest is what 'rollout resume --approved' takes, of a plan for an object in a cluster;
// "" for any other.
func (o *options) digest(ctx context.Context, m *planning.Made) (string, error) {
	if o.FromFiles() || len(m.Plan.Steps) == 0 {
		return "", nil
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return "", err
	}
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return "", err
	}
	return planning.ApprovalDigests(&m.Plan, planning.ClusterIdentities(ctx, client, cfg))[0], nil
}
