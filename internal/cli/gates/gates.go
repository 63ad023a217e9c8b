// Package gates is the flag --feature-gates: which gates of Kruise, and of
// Kubernetes, are on; no cluster tells.
package gates

import (
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// fields are the gates by their names.
var fields = map[string]func(*cluster.Gates) *bool{
	"CloneSetPartitionRollback":              func(g *cluster.Gates) *bool { return &g.CloneSetPartitionRollback },
	"PreparingUpdateAsUpdate":                func(g *cluster.Gates) *bool { return &g.PreparingUpdateAsUpdate },
	"InPlaceUpdateEnvFromMetadata":           func(g *cluster.Gates) *bool { return &g.InPlaceUpdateEnvFromMetadata },
	"InPlaceWorkloadVerticalScaling":         func(g *cluster.Gates) *bool { return &g.InPlaceWorkloadVerticalScaling },
	"RecreatePodWhenChangeVCTInCloneSetGate": func(g *cluster.Gates) *bool { return &g.RecreatePodWhenChangeVCT },
	"MaxUnavailableStatefulSet":              func(g *cluster.Gates) *bool { return &g.MaxUnavailableStatefulSet },
	"StatefulSetStartOrdinal":                func(g *cluster.Gates) *bool { return &g.StatefulSetStartOrdinal },
}

// AddFlag adds the flag to a command; given receives what is set.
func AddFlag(c *cobra.Command, given *[]string) {
	c.Flags().StringSliceVar(given, "feature-gates", nil, "feature gates that differ from the defaults, NAME=true or NAME=false")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("feature-gates", cobra.FixedCompletions(completions(), cobra.ShellCompDirectiveNoFileComp))
}

// Parse returns Kruise's defaults with what was given. Errors are of usage.
func Parse(given []string) (cluster.Gates, error) {
	g := cluster.DefaultGates()
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
