package planning

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// CompleteNames offers the types for TYPE/NAME.
func CompleteNames(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || strings.Contains(typed, "/") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, t := range named.Types() {
		out = append(out, t+"/")
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Promoted drives a plan with somebody who promotes every pause at once.
func Promoted() simulate.RolloutOptions {
	at := time.Duration(0)
	return simulate.RolloutOptions{Promote: &at}
}
