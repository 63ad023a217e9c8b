package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// selected names the workloads that a selector matches; types is at most one
// argument: types without a name, separated by commas.
func (c *common) selected(ctx context.Context, types []string, selector string) ([]resourcearg.Name, error) {
	kinds, err := resourcearg.ParseKinds(strings.Join(types, ","))
	if err != nil {
		return nil, err
	}
	client, namespace, err := c.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	names, err := clusterread.SelectWorkloads(ctx, client, kinds, namespace, selector)
	if err == nil && len(names) == 0 {
		err = &resource.Error{Err: fmt.Errorf("no workload in namespace %s matches %q", namespace, selector), Hint: "check -l and -n"}
	}
	return names, err
}

// bare reports whether arguments are types alone, as -l wants them.
func bare(args []string) error {
	if len(args) > 1 || len(args) == 1 && strings.Contains(args[0], "/") {
		return command.Usagef("for instance cloneset -l app=web", "-l goes with types, not with names")
	}
	return nil
}

// several does something for workloads one after the other, and ends as the worst of
// them. After a failure the rest is not begun; one that waits for a person keeps no
// other waiting.
func (c *common) several(names []resourcearg.Name, do func(resourcearg.Name) error) error {
	return c.inOrder(names, do, func(err error) bool { return errors.Is(err, command.ErrPaused) })
}

// inSequence is [common.several] for workloads of which none is begun before the one
// before it is done.
func (c *common) inSequence(names []resourcearg.Name, do func(resourcearg.Name) error) error {
	return c.inOrder(names, do, func(error) bool { return false })
}

// inOrder continues after an error that is temporary.
func (c *common) inOrder(names []resourcearg.Name, do func(resourcearg.Name) error, passes func(error) bool) error {
	namespace := c.factory.Flags.Namespace
	rows := make([]view.Ending, len(names))
	var worst error
	for i, name := range names {
		rows[i].Name = name.String()
		if worst != nil && !passes(worst) {
			rows[i].Outcome = "not started"
			continue
		}
		_, _ = fmt.Fprintf(c.factory.Streams.Err, "%d of %d: %s\n", i+1, len(names), name)
		c.factory.Flags.Namespace = namespace // a manifest may have had its own
		err := do(name)
		rows[i].Outcome = outcome(err)
		worst = worse(worst, err)
	}
	if err := view.Endings(c.factory.Streams.Err, rows, c.factory.ErrStyle()); err != nil {
		return err
	}
	return worst
}

// ranks are endings, the worst first; any other error is worse than all but the
// first.
var ranks = []struct {
	err  error
	text string
}{
	{command.ErrInterrupted, "left"},
	{command.ErrFailed, "failed"},
	{command.ErrTimedOut, "timed out"},
	{command.ErrPaused, "paused"},
}

func outcome(err error) string {
	if err == nil {
		return "done"
	}
	for _, r := range ranks {
		if errors.Is(err, r.err) {
			return r.text
		}
	}
	return err.Error()
}

// worse is the worse of two ends; nil is the best.
func worse(a, b error) error {
	if rank(b) < rank(a) {
		return b
	}
	return a
}

// rank is small for what is bad: 0 for who was interrupted, 1 for errors.
func rank(err error) int {
	if err == nil {
		return len(ranks) + 1
	}
	for i, r := range ranks {
		switch is := errors.Is(err, r.err); {
		case is && i == 0:
			return 0
		case is:
			return i + 1
		}
	}
	return 1
}

// runSeveral rolls out every workload that the command line means.
func (o *runOptions) runSeveral(ctx context.Context, names []resourcearg.Name) error {
	return o.several(names, func(n resourcearg.Name) error {
		one := *o
		one.Options = o.For(n)
		return one.run(ctx)
	})
}
