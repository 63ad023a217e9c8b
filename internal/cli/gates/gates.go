// Package gates says which feature gates of Kruise, and of Kubernetes, are on: as the
// arguments of Kruise's manager say, and the flag --feature-gates. No cluster tells those
// of Kubernetes.
package gates

import (
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Set are the gates of the rules, and those that only a model of the cluster knows.
type Set struct {
	cluster.Gates
	// ReadinessGate is KruisePodReadinessGate; see simulate.Options.
	ReadinessGate bool
}

// fields are the gates by their names.
var fields = map[string]func(*Set) *bool{
	"CloneSetPartitionRollback":              func(g *Set) *bool { return &g.CloneSetPartitionRollback },
	"PreparingUpdateAsUpdate":                func(g *Set) *bool { return &g.PreparingUpdateAsUpdate },
	"InPlaceUpdateEnvFromMetadata":           func(g *Set) *bool { return &g.InPlaceUpdateEnvFromMetadata },
	"InPlaceWorkloadVerticalScaling":         func(g *Set) *bool { return &g.InPlaceWorkloadVerticalScaling },
	"RecreatePodWhenChangeVCTInCloneSetGate": func(g *Set) *bool { return &g.RecreatePodWhenChangeVCT },
	"MaxUnavailableStatefulSet":              func(g *Set) *bool { return &g.MaxUnavailableStatefulSet },
	"PodUnavailableBudgetUpdateGate":         func(g *Set) *bool { return &g.GuardUpdates },
	"KruisePodReadinessGate":                 func(g *Set) *bool { return &g.ReadinessGate },
	"StatefulSetStartOrdinal":                func(g *Set) *bool { return &g.StatefulSetStartOrdinal },
}

// AddFlag adds the flag to a command; given receives what is set.
func AddFlag(c *cobra.Command, given *[]string) {
	c.Flags().StringSliceVar(given, "feature-gates", nil, "feature gates that differ from the defaults, NAME=true or NAME=false")
	usage.Offer(c, "feature-gates", completions()...)
}

// Parse returns Kruise's defaults with what was given. Errors are of usage.
func Parse(given []string) (Set, error) {
	g := Set{Gates: cluster.DefaultGates()}
	for _, one := range given {
		name, value, ok := strings.Cut(one, "=")
		on, err := strconv.ParseBool(value)
		if !ok || err != nil {
			return g, usage.Errorf("for instance --feature-gates "+names()[0]+"=true", "--feature-gates: %q is not NAME=true or NAME=false", one)
		}
		field := fields[name]
		if field == nil {
			return g, usage.Errorf("gates that change what is planned: "+strings.Join(names(), ", "), "--feature-gates: unknown gate %q", name)
		}
		*field(&g) = on
	}
	return g, nil
}

func names() []string {
	out := make([]string, 0, len(fields))
	for name := range fields {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func completions() []string {
	out := names()
	for i := range out {
		out[i] += "="
	}
	return out
}
