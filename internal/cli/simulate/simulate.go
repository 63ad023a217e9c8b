// Package simulate is the verb that runs a plan in a model of the cluster and
// tells what happens, second by second.
package simulate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const long = `Simulate a plan against a model of the cluster and print what happens, pod by pod,
with a summary at the end. Nothing is sent to a cluster.

PLAN is a file that 'plan' wrote; or give the change as for 'plan'. The simulation
starts from the current state of the cluster or, with --against FILE, from that of a
file; pods are made up unless --with has them. The same seed gives the same run.`

const example = `  # what a plan will do, line by line
  kubectl kruise simulate plan.yaml

  # slow pods, slow pulls, and the third pod never becomes ready
  kubectl kruise simulate plan.yaml --pod-ready 20s±5s --pull 30s --fail-pod 3

  # before there is any cluster: 200 pods under a budget, as a picture
  kubectl kruise simulate --against web.yaml --image app=web:2 --pods 200 --pub 20% -o svg > run.svg

  # the same as a page for any browser, to step through the simulated time
  kubectl kruise simulate plan.yaml -o html > run.html`

type options struct {
	factory *factory.Factory
	planning.Options
	whatIf

	output  string
	verbose bool
	plan    string
}

var outputs = []string{"lines", "table", "json", "svg", "html", "summary"}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, Options: planning.Options{Factory: f}}
	c := &cobra.Command{
		Use:     "simulate (PLAN | [TYPE/NAME] --image CONTAINER=IMAGE | -f FILE | -k DIR)",
		Short:   "Simulate a plan in a model of the cluster",
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
	o.addWhatIfs(c)
	c.Flags().StringVarP(&o.output, "output", "o", outputs[0], strings.Join(outputs, ", "))
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show every pod and what happens inside it")
	command.Offer(c, "output", outputs...)
	return c
}

func (o *options) complete(args []string) error {
	if err := command.OneOf("output", o.output, outputs...); err != nil {
		return err
	}
	if err := o.parse(); err != nil {
		return err
	}
	o.Nodes = o.nodes
	if len(args) == 1 && planning.IsPlan(args[0]) {
		o.plan = args[0]
		return o.CompletePlan()
	}
	return o.Complete(args)
}

func (o *options) run(ctx context.Context) error {
	m, err := o.make(ctx)
	if err != nil {
		return err
	}
	settings := m.Assumed()
	settings.Seed = o.seed
	o.apply(m, &settings)
	drive := planning.Promoted()
	if o.stopAtPause {
		drive.Promote = nil
	}
	line, err := m.Run(settings, drive)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(o.factory.Streams.Out)
	if err := o.write(w, m, line); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return ended(line.Summary)
}

func (o *options) make(ctx context.Context) (*planning.Made, error) {
	if o.plan != "" {
		return o.Load(ctx, o.plan)
	}
	return o.Draft(ctx)
}

func (o *options) write(w io.Writer, m *planning.Made, line engine.Timeline) error {
	st := o.factory.OutStyle(o.verbose)
	switch o.output {
	case "table":
		return view.TimelineTable(w, line, st)
	case "json":
		return view.TimelineJSON(w, line)
	case "svg":
		return svg.Draw(w, view.Picture(m.Plan, line))
	case "html":
		about := html.About{Version: version.Get().Version}
		if !o.FromFiles() {
			about.At = m.At
		}
		return html.Run(w, view.NewPlanPage(m.Plan, &line).Place(m.Snapshot.Pods), about)
	case "summary":
		return view.Outcome(w, line.Summary, st)
	}
	if err := view.Timeline(w, line, st); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return view.Outcome(w, line.Summary, st)
}

// ended is the error of a run that comes to no good end.
func ended(s engine.Summary) error {
	if s.Outcome != engine.Halted && s.Outcome != engine.Stuck {
		return nil
	}
	return &command.FailedError{Err: errors.New("the simulated rollout " + view.OutcomeText(s))}
}
