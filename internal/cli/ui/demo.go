package ui

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

const demoLong = `Show the terminal interface on a simulated cluster: a small shop with rollouts in
progress, one of them failing, one waiting for approval, one upgrading a sidecar
without downtime. Every key works; no cluster is needed or changed.

--headless prints the events as lines instead, as fast as possible.`

const demoExample = `  # try every key
  kubectl kruise demo

  # four times as fast
  kubectl kruise demo --speed 4

  # a rollout of 5,000 pods
  kubectl kruise demo --pods 5000

  # what happens in two minutes, as lines
  kubectl kruise demo --headless --for 2m`

type demoOptions struct {
	factory *factory.Factory
	look    terminal.Appearance

	headless, readOnly bool
	speed              float64
	seed               uint64
	length             time.Duration
	pods               int
}

// NewDemo returns the verb.
func NewDemo(f *factory.Factory) *cobra.Command {
	o := &demoOptions{factory: f}
	c := &cobra.Command{
		Use: "demo", Short: "Try the terminal interface on a simulated cluster", Long: demoLong, Example: demoExample,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.speed <= 0 || o.speed > fastest {
				return command.Usagef("more than 0, up to 100", "--speed: %v is not a speed", o.speed)
			}
			if o.pods < 0 || o.pods > mostPods {
				return command.Usagef(fmt.Sprintf("0 to %d", mostPods), "--pods: %d is not a valid number of pods", o.pods)
			}
			return o.run(c.Context())
		},
	}
	c.Flags().BoolVar(&o.headless, "headless", false, "print what happens as lines")
	c.Flags().DurationVar(&o.length, "for", 2*time.Minute, "simulated time with --headless")
	c.Flags().Float64Var(&o.speed, "speed", 1, "simulated seconds per second")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "random seed; the same seed gives the same events")
	c.Flags().IntVar(&o.pods, "pods", 0, "number of pods of an additional workload with a rollout in progress")
	c.Flags().BoolVar(&o.readOnly, "read-only", false, "disable actions that change the cluster")
	o.look.AddFlags(c.Flags())
	return c
}

// fastest is the greatest speed, mostPods the largest workload.
const (
	fastest  = 100
	mostPods = 10000
)

func (o *demoOptions) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o.headless {
		return o.printEvents(ctx)
	}
	if err := terminal.Check(o.factory.Streams, "'kubectl kruise demo --headless' prints lines"); err != nil {
		return err
	}
	show := tui.Options{ReadOnly: o.readOnly}
	if err := o.look.Complete(o.factory.Streams.Getenv, &show); err != nil {
		return err
	}
	work := o.factory.Working("preparing the demo")
	shop, err := demo.Start(ctx, demo.Options{Seed: o.seed, Now: time.Now().UTC(), Pods: o.pods})
	work.Stop()
	if err != nil {
		return err
	}
	go o.live(ctx, shop)
	show.Source, show.Actions = shop, shop
	_, err = terminal.Run(ctx, o.factory.Streams, o.factory.Color, show)
	return err
}

// demoStep is the interval at which time advances.
const demoStep = 100 * time.Millisecond

// live lets time go by as the clock has it. It ends with the context, and with an
// error of the model, which then stops.
func (o *demoOptions) live(ctx context.Context, shop *demo.Cluster) {
	tick := time.NewTicker(demoStep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if shop.Advance(time.Duration(float64(demoStep)*o.speed)) != nil {
				return
			}
		}
	}
}

// demoStart is when the shop opens without a clock to look at.
var demoStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// printEvents prints each change of a workload's row, and all rows at the end.
func (o *demoOptions) printEvents(ctx context.Context) error {
	shop, err := demo.Start(ctx, demo.Options{Seed: o.seed, Now: demoStart, Pods: o.pods})
	if err != nil {
		return err
	}
	t := &eventPrinter{out: o.factory.Streams.Out, seen: map[cluster.Ref]string{}}
	var w *world.World
	for at := time.Duration(0); ; at += time.Second {
		if w, err = shop.Await(ctx, 0, world.Want{}); err != nil {
			return err
		}
		if err := t.changes(w); err != nil {
			return err
		}
		if at >= o.length {
			return t.table(w)
		}
		if err := shop.Advance(time.Second); err != nil {
			return err
		}
	}
}

// eventPrinter prints rows, each as often as it says something new.
type eventPrinter struct {
	out  io.Writer
	seen map[cluster.Ref]string
}

func (t *eventPrinter) changes(w *world.World) error {
	for _, row := range w.Workloads {
		line := fmt.Sprintf("%s\t%s\t%d/%d updated\t%s", rowName(row), row.Health, row.Pods.Updated, row.Pods.Desired, row.Why)
		if t.seen[row.Ref] == line {
			continue
		}
		t.seen[row.Ref] = line
		if _, err := fmt.Fprintf(t.out, "%s\t%s\n", w.Now.Format(time.TimeOnly), line); err != nil {
			return err
		}
	}
	return nil
}

func (t *eventPrinter) table(w *world.World) error {
	out := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "\nHEALTH\tWORKLOAD\tUPDATED\tREADY\tSTEP\tDRIVER\tWHY")
	for _, row := range w.Workloads {
		at := "-"
		if row.Steps > 0 {
			at = fmt.Sprintf("%d/%d %s", row.Step+1, row.Steps, row.StepName)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d/%d\t%d/%d\t%s\t%s\t%s\n", row.Health, rowName(row), row.Pods.Updated, row.Pods.Desired, row.Pods.Ready, row.Pods.Desired, at, row.Driver, row.Why)
	}
	return out.Flush()
}

func rowName(row *world.Workload) string {
	if row.Namespace == "" {
		return row.String()
	}
	return row.Namespace + "/" + row.String()
}
