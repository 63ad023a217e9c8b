package execute

import (
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// GroupFlags say how several workloads are rolled out together.
type GroupFlags struct {
	name        string
	parallel    int
	unavailable string
	failures    int
	waveBy      string
	// Given indicates that one of them is on the command line.
	Given bool
}

// AddFlags adds the flags to a verb.
func (g *GroupFlags) AddFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&g.name, "group", "", "name of the group of rollouts, for status, pause, promote, resume, retry and abort; default: made from -f, -k or -l")
	fl.IntVar(&g.parallel, "parallel", 0, "number of workloads that are rolled out at the same time; 0 means no limit")
	fl.StringVar(&g.unavailable, "max-unavailable-total", "", "number or percentage of the pods of all workloads that may be unavailable at the same time")
	fl.IntVar(&g.failures, "max-failures", 0, "number of rollouts that may fail before no further one starts")
	fl.StringVar(&g.waveBy, "wave-by", "", "annotation or label with the number of the wave of a workload; a wave starts when all lower waves have ended")
}

// GroupFlagNames are the flags that make a group of several workloads.
var GroupFlagNames = []string{"group", "parallel", "max-unavailable-total", "max-failures", "wave-by"}

// Read checks the flags. Errors are of usage.
func (g *GroupFlags) Read(c *cobra.Command) error {
	for _, name := range GroupFlagNames {
		g.Given = g.Given || c.Flags().Changed(name)
	}
	switch {
	case g.parallel < 0:
		return command.Usagef("0 is all that may start", "--parallel: %d is below 0", g.parallel)
	case g.failures < 0:
		return command.Usagef("0 stops at the first failure", "--max-failures: %d is below 0", g.failures)
	case g.name != "" && !groupName.MatchString(g.name):
		return command.Usagef("lower case letters, digits and -, at most 50", "--group: %q is not a valid name", g.name)
	}
	if g.unavailable == "" {
		return nil
	}
	if _, err := plan.ParseAmount(g.unavailable); err != nil {
		return command.Usagef("", "--max-unavailable-total: %w", err)
	}
	return nil
}

var groupName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$`)

// named is the name of the group: the one that is given, or one made of what the workloads
// were selected by.
func (g *GroupFlags) named(from ...string) (string, error) {
	if g.name != "" {
		return g.name, nil
	}
	for _, text := range from {
		base := filepath.Base(text)
		base = strings.TrimSuffix(base, filepath.Ext(base))
		name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-")
		if len(name) > mostName {
			name = strings.TrimRight(name[:mostName], "-")
		}
		if groupName.MatchString(name) {
			return name, nil
		}
	}
	return "", command.Usagef("status, pause, promote and abort know the rollouts by it", "give the rollouts a name: --group NAME")
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

const mostName = 50

// bounds are the flags as numbers; replicas are the pods of all workloads.
func (g *GroupFlags) bounds(replicas int) plan.Bounds {
	out := plan.Bounds{Parallel: g.parallel, MaxFailures: g.failures}
	if g.unavailable == "" {
		return out
	}
	amount, err := plan.ParseAmount(g.unavailable)
	if err != nil {
		return out // it was read before
	}
	if out.MaxUnavailable = int(amount.Value); amount.Percent {
		out.MaxUnavailable = max(1, int(amount.Value*float64(replicas)/100)) // rounded down, as maxUnavailable is
	}
	return out
}

// wave is the wave of a workload: a whole number in an annotation or a label, 0 without.
func (g *GroupFlags) wave(r *resource.Resource) (int, error) {
	if g.waveBy == "" || r == nil {
		return 0, nil
	}
	text, path := r.Annotation(g.waveBy), "metadata.annotations"
	if text == "" {
		text, path = r.Labels()[g.waveBy], "metadata.labels"
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, r.Fault(path, "waves are whole numbers, the lowest first", "%s: %q is not a whole number", g.waveBy, text)
	}
	return int(n), nil
}

// GroupHinted is why a group cannot be carried out, with what to do about it.
func GroupHinted(name string, err error) error {
	if known, ok := errors.AsType[*apply.GroupError](err); ok {
		return &resource.Error{Err: known, Hint: known.Hint}
	}
	if errors.Is(err, plan.ErrOtherExecutor) {
		return &resource.Error{Err: err, Hint: "look at it with 'kubectl kruise rollout status --group " + name + "'"}
	}
	return session.WithHint(err)
}
