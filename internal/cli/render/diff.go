package render

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/input"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

const diffLong = `Show what changes between two states of manifests, and the effect: which pods are
updated in place, recreated or not updated, because of which field and how many at
once; what loses data; what an API server rejects; and which workloads, copies, subsets
and budgets are affected.

OLD and NEW are files, directories or kustomizations; - is standard input, and
/dev/null is empty. With --git they are two revisions of one path: A..B, A...B
for the changes of B since it branched from A, or A alone against the working tree.
Nothing is checked out, and no cluster is contacted.

Semantically equal values are not reported: defaults, order, comments, the version of an
API.

With -f or -k it is kubectl diff: the objects of the cluster are compared, line by line,
with what kubectl apply would make of them. The program "diff" compares, or that of
$KUBECTL_EXTERNAL_DIFF. For the effect of such a change on pods use "plan -f" and "apply
--dry-run=server".

Values of Secrets are never shown. The exit code is 0 without differences, 1 with
differences, and greater than 1 on an error.`

const diffExample = `  # two overlays
  kubectl kruise diff overlays/staging overlays/prod

  # what a branch will do, as a comment for its pull request
  kubectl kruise diff --git origin/main...HEAD overlays/prod -o markdown

  # the same for reviewers without a terminal: one file for any browser
  kubectl kruise diff --git origin/main...HEAD overlays/prod -o html > diff.html

  # what kubectl apply would change in the cluster
  kubectl kruise diff -f web.yaml

  # what two commands print
  kubectl kruise diff <(kustomize build old) <(kustomize build new)

  # uncommitted changes
  kubectl kruise diff --git HEAD manifests/

  # with other objects of the cluster
  kubectl kruise diff old.yaml new.yaml --with inventory.yaml

  # the native objects that both become
  kubectl kruise diff old.yaml new.yaml --rendered`

type diffOptions struct {
	factory *factory.Factory

	args     []string
	git      string
	with     []string
	rendered bool
	given    installation.GateFlags
	output   string
	verbose  bool

	states input.States
	kruise installation.Flag
	live   diffLive
}

var diffOutputs = []string{"text", "markdown", "json", "html"}

// NewDiff returns the verb that says what changes between two states of
// manifests, and what that will do in a cluster: from files, or from Git.
func NewDiff(f *factory.Factory) *cobra.Command {
	o := &diffOptions{factory: f, live: diffLive{factory: f}}
	c := &cobra.Command{
		Use:     "diff (OLD NEW | --git RANGE PATH | -f FILE | -k DIR)",
		Short:   "Preview the effect of changed manifests",
		Long:    diffLong,
		Example: diffExample,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.live.check(c, args); err != nil {
				return err
			}
			if o.live.asked() {
				return o.live.run(c)
			}
			if err := o.complete(args); err != nil {
				return err
			}
			return trouble(o.run(c.Context()))
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.git, "git", "", "revisions to compare: A..B, A...B, or A for A against the working tree")
	fl.StringSliceVar(&o.with, "with", nil, "file with objects that exist on both sides: namespaces, nodes, pods, budgets; - is standard input")
	fl.BoolVar(&o.rendered, "rendered", false, "compare the native objects that both sides become")
	fl.StringVarP(&o.output, "output", "o", diffOutputs[0], "output format: "+strings.Join(diffOutputs, ", "))
	fl.BoolVarP(&o.verbose, "verbose", "v", false, "show all fields, and values in full")
	o.given.AddGates(c)
	o.states.Build.Add(c)
	o.states.Limits.Add(c)
	o.kruise.Add(c, "that of ClusterFacts in --with, else the newest")
	o.live.addFlags(c)
	command.Offer(c, "output", diffOutputs...)
	_ = c.MarkFlagFilename("with", "yaml", "yml", "json")
	return c
}

// trouble keeps errors apart from the exit code 1, which means differences.
func trouble(err error) error {
	if err == nil || errors.Is(err, command.ErrDiffers) || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*command.UsageError](err); ok {
		return err
	}
	return &command.TroubleError{Err: err}
}

func (o *diffOptions) complete(args []string) error {
	o.args = args
	if err := o.checkArgs(); err != nil {
		return err
	}
	if err := o.states.Limits.Complete(); err != nil {
		return err
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	if err := command.OneOf("output", o.output, diffOutputs...); err != nil {
		return err
	}
	return o.given.Complete()
}

func (o *diffOptions) checkArgs() error {
	switch n := len(o.args); {
	case slices.Contains(o.args, ""):
		return command.Usagef("name a file, a directory or -", "the name of a file is empty")
	case o.git != "":
		return input.CheckPaths(o.git, o.args)
	case n != 2:
		return command.Usagef("'kubectl kruise diff OLD NEW', --git A..B PATH, or -f FILE for the cluster", "want two states to compare, got %d", n)
	}
	return command.OneStdin(slices.Concat(o.args, o.with)...)
}

func (o *diffOptions) run(ctx context.Context) error {
	loading := o.factory.Working("loading both states")
	defer loading.Stop()
	old, now, err := o.sides(loading.Reported(ctx))
	if err != nil {
		return err
	}
	input.WarnUndecided(o.factory.Streams.Err, o.states.Undecided)
	opt, err := o.surroundings(ctx, old)
	if err != nil {
		return err
	}
	if o.rendered {
		if old, now, err = o.render(ctx, old, now, opt.Context); err != nil {
			return err
		}
	}
	comparing := o.factory.Working("comparing").Of(max(len(old), len(now)), "object")
	defer comparing.Stop()
	opt.Progress = comparing.Progress()
	report := compare.Run(ctx, old, now, opt)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := o.write(report); err != nil {
		return err
	}
	if report.Differs() {
		return command.ErrDiffers
	}
	return nil
}

func (o *diffOptions) write(report compare.Report) error {
	w := text.Buffered(o.factory.Streams.Out)
	changes := view.Changes(report)
	var err error
	switch o.output {
	case "json":
		err = changes.JSON(w)
	case "html":
		err = html.Diff(w, changes.Page(), o.title(), html.About{Version: version.Get().Version})
	case "markdown":
		err = changes.Markdown(w)
	default:
		err = changes.Text(w, o.factory.OutStyle(o.verbose))
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// title names both sides as the command line does.
func (o *diffOptions) title() string {
	if o.git != "" {
		return strings.Join(o.args, " and ") + ", " + o.git
	}
	name := func(arg string) string {
		if arg == "-" {
			return "standard input"
		}
		return arg
	}
	return name(o.args[0]) + " compared with " + name(o.args[1])
}
