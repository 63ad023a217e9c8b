// Package demo is the verb that shows the terminal interface on a cluster in memory.
package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/terminal"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
)

const long = `Show the terminal interface on a simulated cluster: a small shop with rollouts in
progress, one of them failing, one waiting for approval, one upgrading a sidecar
without downtime. Every key works; no cluster is needed or changed.

--headless prints the events as lines instead, as fast as possible.`

const example = `  # try every key
  kubectl kruise demo

  # four times as fast
  kubectl kruise demo --speed 4

  # a rollout of 5,000 pods
  kubectl kruise demo --pods 5000

  # what happens in two minutes, as lines
  kubectl kruise demo --headless --for 2m`

type options struct {
	factory *factory.Factory
	look    terminal.Look

	headless, readOnly bool
	speed              float64
	seed               uint64
	length             time.Duration
	pods               int
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use: "demo", Short: "Try the terminal interface on a simulated cluster", Long: long, Example: example,
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

func (o *options) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if o.headless {
		return o.tell(ctx)
	}
	if err := terminal.Check(o.factory.Streams, "'kubectl kruise demo --headless' prints lines"); err != nil {
		return err
	}
	show := tui.Options{ReadOnly: o.readOnly}
	if err := o.look.Complete(o.factory.Streams.Getenv, &show); err != nil {
		return err
	}
	done := o.factory.Working("preparing the demo")
	shop, err := demo.StartWith(ctx, demo.Options{Seed: o.seed, Now: time.Now().UTC(), Pods: o.pods})
	done()
	if err != nil {
		return err
	}
	go o.live(ctx, shop)
	show.Source, show.Actions = shop, shop
	_, err = terminal.Run(ctx, o.factory.Streams, o.factory.Color, show)
	return err
}

// step is how often time goes on.
const step = 100 * time.Millisecond

// live lets time go by as the clock has it. It ends with the context, and with an
// error of the model, which then stands still.
func (o *options) live(ctx context.Context, shop *demo.Cluster) {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if shop.Advance(time.Duration(float64(step)*o.speed)) != nil {
				return
			}
		}
	}
}
