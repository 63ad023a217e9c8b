package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// isSpread reports whether an argument names a WorkloadSpread.
func isSpread(arg string) bool {
	kind, _, ok := strings.Cut(arg, "/")
	word, _, _ := strings.Cut(strings.ToLower(kind), ".")
	k, _ := kruise.Lookup(kruise.Group, kruise.KindWorkloadSpread)
	return ok && slices.Contains(k.Words(), word)
}

// spreadOf is the WorkloadSpread that has placed pods; "" for none.
func spreadOf(pods []*cluster.Pod) string {
	for _, p := range pods {
		if m, ok := spread.ReadMatch(p.Annotations); ok && m.Spread != "" {
			return m.Spread
		}
	}
	return ""
}

// placement is where the pods are, as far as it can be read.
func (o *whyOptions) placement(ctx context.Context, arg string) *diagnose.Placement {
	p, err := clusterread.ReadPlacement(ctx, o.factory, arg)
	if err != nil {
		o.warn("not considered: %s: %v", arg, err)
	}
	return p
}
