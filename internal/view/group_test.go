package view

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// TestGroupPlan_ExplainsThePeakOfNodes: the peak of a node may be more than the pods that are
// unavailable, since it counts those that start or terminate; the output says so once.
func TestGroupPlan_ExplainsThePeakOfNodes(t *testing.T) {
	line := simulate.GroupTimeline{MostActive: 1, MostUnavailable: 1, Runs: make([]simulate.GroupRun, 1), Peaks: []simulate.Peak{
		{Kind: "poddisruptionbudget", Namespace: "shop", Name: "web", Unavailable: 1, Allowed: 2},
		{Kind: "namespace", Name: "shop", Unavailable: 1, Allowed: -1},
		{Kind: "node", Name: "n1", Unavailable: 1, Allowed: -1},
		{Kind: "node", Name: "n2", Unavailable: 3, Allowed: -1},
	}}
	const nodes = `  peak on node/n2: 3 pods not ready or terminating
  peak on node/n1: 1 pod not ready or terminating
  nodes also count pods that start or terminate: these may be more than the unavailable pods
`
	const all = `estimate: 0s in all, at most 1 rollout at a time, at most 1 pod unavailable
  peak in poddisruptionbudget/shop/web: 1 unavailable of 2 allowed
  peak in namespace/shop: 1 unavailable
` + nodes
	for name, c := range map[string]struct {
		peaks []simulate.Peak
		want  string
	}{
		"with nodes":    {line.Peaks, all},
		"without nodes": {line.Peaks[:2], strings.TrimSuffix(all, nodes)},
	} {
		t.Run(name, func(t *testing.T) {
			line.Peaks = c.peaks
			var out strings.Builder
			if err := GroupPlan(&out, []GroupMember{{Name: "cloneset/web"}}, line, Style{}); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(out.String(), "\n"+strings.Split(out.String(), "\n")[1]+"\n"); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
