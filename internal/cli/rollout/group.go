package rollout

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// groupFlags say how several workloads are rolled out together.
type groupFlags struct {
	name        string
	parallel    int
	unavailable string
	failures    int
	waveBy      string
	// given indicates that one of them is on the command line.
	given bool
}

func (g *groupFlags) addFlags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&g.name, "group", "", "name of the group of rollouts, for status, pause, promote, resume, retry and abort; default: made from -f, -k or -l")
	fl.IntVar(&g.parallel, "parallel", 0, "number of workloads that are rolled out at the same time; 0 means no limit")
	fl.StringVar(&g.unavailable, "max-unavailable-total", "", "number or percentage of the pods of all workloads that may be unavailable at the same time")
	fl.IntVar(&g.failures, "max-failures", 0, "number of rollouts that may fail before no further one starts")
	fl.StringVar(&g.waveBy, "wave-by", "", "annotation or label with the number of the wave of a workload; a wave starts when all lower waves have ended")
}

// groupFlagNames are the flags that make a group of several workloads.
var groupFlagNames = []string{"group", "parallel", "max-unavailable-total", "max-failures", "wave-by"}

// read checks the flags. Errors are of usage.
func (g *groupFlags) read(c *cobra.Command) error {
	for _, name := range groupFlagNames {
		g.given = g.given || c.Flags().Changed(name)
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
func (g *groupFlags) named(from ...string) (string, error) {
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
func (g *groupFlags) bounds(replicas int) plan.Bounds {
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
func (g *groupFlags) wave(r *resource.Resource) (int, error) {
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

// share has the workloads that are opened share their watches until the function that it
// returns is called.
func (c *common) share(ctx context.Context) (end func(), err error) {
	cfg, err := c.factory.Config()
	if err != nil {
		return nil, err
	}
	shared, err := kube.OpenShared(ctx, cfg)
	if err != nil {
		return nil, err
	}
	*c.watches = watches{shared, map[string]map[cluster.Ref]*release.Rollout{}}
	return func() {
		*c.watches = watches{}
		shared.Close()
	}, nil
}

// groupRecords are the groups of the cluster.
func (c *common) groupRecords() *kube.Groups {
	return kube.NewGroups(c.watches.shared, kube.Options{Holder: holder(), StateNamespace: c.stateNamespace, Program: program(), AcquireBy: c.factory.Deadline})
}

// groups carry groups out. opened are workloads that are open already.
func (c *common) groups(a apply.Approvals, opened map[cluster.Ref]*session) (apply.Groups, error) {
	r, err := c.rolloutsOf(opened)
	r.Approvals = a
	return apply.Groups{Rollouts: r, Records: c.groupRecords()}, err
}

// groupHinted is why a group cannot be carried out, with what to do about it.
func groupHinted(name string, err error) error {
	if known, ok := errors.AsType[*apply.GroupError](err); ok {
		return &resource.Error{Err: known, Hint: known.Hint}
	}
	if errors.Is(err, plan.ErrOtherExecutor) {
		return &resource.Error{Err: err, Hint: "look at it with 'kubectl kruise rollout status --group " + name + "'"}
	}
	return withHint(err)
}
