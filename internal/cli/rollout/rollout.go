// Package rollout has the verbs that carry plans out and look after them.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/live"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const long = `Run and manage rollouts step by step, on clusters with and without Kruise.

The state of a rollout is recorded in the cluster, next to its workload: if the
terminal is lost, "rollout resume" continues it from any machine.`

const example = `  # roll out a new image in steps, after confirmation
  kubectl kruise rollout run cloneset/web --image app=registry.example.com/web:2 --steps 1,10%,100% --pause-after 1

  # watch it, from another terminal
  kubectl kruise rollout status cloneset/web --watch

  # continue it; or abort it and roll back
  kubectl kruise rollout promote cloneset/web
  kubectl kruise rollout abort cloneset/web --rollback`

// Screens shows the terminal interface over a rollout that this process carries out,
// until the user leaves it.
type Screens func(ctx context.Context, f *factory.Factory, d *live.Rollouts, ref cluster.Ref) error

// New returns the verb with its verbs; screens are for `run --ui`.
func New(f *factory.Factory, screens Screens) *cobra.Command {
	c := &cobra.Command{
		Use: "rollout VERB", Short: "Run plans and manage rollouts", Long: long, Example: example,
		Args: command.NoSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	shared := session.NewClient(f)
	c.PersistentFlags().StringVar(&shared.StateNamespace, "state-namespace", kube.DefaultStateNamespace, "namespace where rollouts of kinds without a namespace are kept")
	c.AddCommand(
		newRun(shared, screens), newApply(shared), newStatus(shared), newList(shared),
		newPromote(shared), newAbort(shared), newRetry(shared), newApprove(shared),
		newPause(shared), newResume(shared), newUndo(shared), newHistory(shared), newRestart(shared), newShow(shared),
		newDrive(shared), newLogs(shared), newAttach(shared, screens),
	)
	for _, g := range tasks {
		c.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
	}
	for _, verb := range c.Commands() {
		timed(f, verb)
		for _, g := range tasks {
			if slices.Contains(g.verbs, verb.Name()) {
				verb.GroupID = g.title
			}
		}
	}
	return c
}

// tasks are the headings of the verbs in the help.
var tasks = []struct {
	title string
	verbs []string
}{
	{"Begin", []string{"run", "apply", "restart", "undo"}},
	{"Steer one in progress", []string{"pause", "resume", "promote", "approve", "retry", "abort"}},
	{"Look", []string{"status", "list", "history", "show", "attach", "logs"}},
}

// soonest is how long the server has to answer before there is a rollout, however short the
// time for that one is.
const soonest = 5 * time.Second

// timed has --timeout of a verb count from its first request on: a server that does not answer
// would hold it up before there is a rollout to wait for.
func timed(f *factory.Factory, c *cobra.Command) {
	run := c.RunE
	if c.Flags().Lookup("timeout") == nil || run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		limit, err := c.Flags().GetDuration("timeout")
		if err != nil || limit <= 0 {
			return run(c, args)
		}
		f.Until(time.Now().Add(max(limit, soonest)))
		defer f.Until(time.Time{})
		if err = run(c, args); !errors.Is(err, factory.ErrLate) && !errors.Is(err, kube.ErrAcquireTimeout) {
			return err
		}
		_, _ = fmt.Fprintf(f.Streams.Err, "timed out after %s: %v\n", limit, err)
		return command.ErrTimedOut
	}
}
