// Package pull has the verb that has nodes pull an image.
package pull

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imagepull"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imageref"
)

const long = `Pull an image onto nodes before anything needs it there: those of a workload's pods,
those with labels, or all. Kruise does it where it is in the cluster (ImagePullJob);
elsewhere a Job for each node mounts the image as a volume, and nothing in it runs.

Secrets for the registry are those of --pull-secret, of the workload's pods and
template, and of the service account; without a workload that is default, of -n.

Nodes that fail are named with the reason, and the exit code is 3. Ctrl-C and --timeout
end the waiting only: the same command finds the pull again. What pulls goes away ten
minutes after it is done.`

const example = `  # onto the nodes of a workload's pods, with the pull secrets that those have
  kubectl kruise pull registry.example.com/web:2 cloneset/web

  # onto all nodes of a pool, 20 at a time
  kubectl kruise pull registry.example.com/model:7 --nodes pool=gpu --parallel 20 --pull-secret registry`

type options struct {
	factory *factory.Factory

	image    string
	name     *resourcearg.Name
	nodes    string
	secrets  []string
	parallel int
	helper   string
	timeout  time.Duration
	output   string
	pretends submit.DryRunFlag
}

var outputs = []string{"text", "json"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use: "pull IMAGE [TYPE/NAME | --nodes SELECTOR]", Short: "Pull an image onto nodes", Long: long, Example: example, ValidArgsFunction: resourcearg.CompleteNamesAfterFirst(f),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(o.pretends.Read(c), o.complete(args)); err != nil {
				return err
			}
			return o.run(c.Context())
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.nodes, "nodes", "", "labels of the nodes; all nodes by default, unless a workload is named")
	fl.StringSliceVar(&o.secrets, "pull-secret", nil, "Secret for the registry, in the namespace of -n; again for more")
	fl.IntVar(&o.parallel, "parallel", 0, "how many nodes pull at a time; 10 by default")
	fl.StringVar(&o.helper, "helper-image", imagepull.HelperImage, "image that pods run which only pull another one, where there is no Kruise")
	fl.DurationVar(&o.timeout, "timeout", 0, "how long to wait; 0 waits for whatever it takes")
	fl.StringVarP(&o.output, "output", "o", outputs[0], "text, or json: one line for each change of a node")
	o.pretends.AddFlag(c)
	command.Offer(c, "output", outputs...)
	return c
}

func (o *options) complete(args []string) error {
	switch {
	case len(args) == 0 || len(args) > 2:
		return command.Usagef("for instance: kubectl kruise pull registry.example.com/web:2 cloneset/web", "one image, and at most one workload, are wanted")
	case len(args) == 2 && o.nodes != "":
		return command.Usagef("name a workload, or choose nodes by --nodes", "%s and --nodes do not go together", args[1])
	case o.parallel < 0:
		return command.Usagef("", "--parallel: %d nodes at a time are too few", o.parallel)
	case o.timeout < 0:
		return command.Usagef("", "--timeout: %s is in the past", o.timeout)
	case !slices.Contains(outputs, o.output):
		return command.Usagef("one of: text, json", "--output: unknown value %q", o.output)
	}
	if err := imageref.Check(args[0]); err != nil {
		return command.Usagef("for instance registry.example.com/web:2", "%q is not an image: %w", args[0], err)
	}
	o.image = args[0]
	if len(args) == 2 {
		n, err := resourcearg.Parse(args[1])
		o.name = &n
		return err
	}
	return nil
}

// run finds the nodes and waits for the pull.
func (o *options) run(ctx context.Context) error {
	p, err := o.where(ctx)
	if err != nil {
		return err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	if o.pretends.Only() {
		return o.pretend(ctx, cfg, p)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	done := o.factory.Working("pulling images onto nodes")
	states, err := kube.PullImage(ctx, cfg, p, o.tell)
	done()
	if err != nil && (ctx.Err() == nil || states == nil) {
		return err
	}
	failed := o.sum(states)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return command.ErrTimedOut
	case ctx.Err() != nil:
		return command.ErrInterrupted
	}
	return failed
}

// line is one change of a node as JSON.
// pretend shows what would be created.
func (o *options) pretend(ctx context.Context, cfg *rest.Config, p kube.ImagePull) error {
	list, err := kube.PullRequests(ctx, cfg, p)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(o.factory.Streams.Err, "the same pull is in progress: nothing would be created")
		return err
	}
	return o.pretends.Show(ctx, o.factory.Streams.Out, cfg, submit.Requests{JSON: o.output == "json", List: list})
}

type line struct {
	Time  time.Time `json:"time"`
	Node  string    `json:"node"`
	Image string    `json:"image"`
	State string    `json:"state"`
	Why   string    `json:"why,omitempty"`
}

// tell tells how one node stands.
func (o *options) tell(n kube.NodePull) {
	now, out := time.Now(), o.factory.Streams.Out
	if o.output == "json" {
		_ = json.NewEncoder(out).Encode(line{now.UTC(), n.Node, o.image, word(n.Phase), n.Why}) // a reader that has gone is no matter to the pull
		return
	}
	_, _ = fmt.Fprintln(out, now.Format(time.TimeOnly)+"\t"+n.Node+"\t"+strings.TrimSuffix(word(n.Phase)+": "+n.Why, ": "))
}

func word(p kruise.ImagePullPhase) string {
	if p == kruise.ImagePhaseSucceeded {
		return "pulled"
	}
	return strings.ToLower(string(p))
}

// sum says in one line how it ended; nodes that failed are an error.
func (o *options) sum(states []kube.NodePull) error {
	var failed []string
	pulled := 0
	for _, n := range states {
		switch n.Phase {
		case kruise.ImagePhaseSucceeded:
			pulled++
		case kruise.ImagePhaseFailed:
			failed = append(failed, n.Node)
		}
	}
	text := fmt.Sprintf("%s is on %d of %d nodes", o.image, pulled, len(states))
	if len(failed) > 0 {
		text += "; failed on " + strings.Join(failed, ", ")
	}
	if _, err := fmt.Fprintln(o.factory.Streams.Err, text); err != nil {
		return err
	}
	if len(failed) > 0 {
		return command.ErrFailed
	}
	return nil
}
