package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
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

// ranks are ends of rollouts, the worst first; any other error is worse than all but the
// first.
var ranks = []error{command.ErrInterrupted, command.ErrFailed, command.ErrTimedOut, command.ErrPaused}

// worse is the worse of two ends; nil is the best.
func worse(a, b error) error {
	if rank(b) < rank(a) {
		return b
	}
	return a
}

// rank is small for what is bad: 0 for who was interrupted, 1 for errors.
func rank(err error) int {
	switch i := slices.IndexFunc(ranks, func(r error) bool { return errors.Is(err, r) }); {
	case err == nil:
		return len(ranks) + 1
	case i == 0:
		return 0
	default:
		return i + 1 + max(0, -i)
	}
}
