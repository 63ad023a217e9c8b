package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// subset is a subset of a UnitedDeployment or WorkloadSpread with its pods.
type subset struct {
	Label string
	// Pods is how many there are, Changed how many of them the plan touches, and Nodes on how
	// many nodes they are.
	Pods, Changed, Nodes int
	Steps                []subsetStep
}

// subsetStep are the pods of a subset that a step touches.
type subsetStep struct {
	Number int
	Label  string
	Names  []string
}

// subsetsOf are all pods by subset and step, those without a subset last; nil where no pod is
// in one.
func subsetsOf(pods []view.PlanPod) []subset {
	if !slices.ContainsFunc(pods, func(p view.PlanPod) bool { return p.Subset != "" }) {
		return nil
	}
	by := map[string][]view.PlanPod{}
	var names []string
	for _, p := range pods {
		if by[p.Subset] == nil {
			names = append(names, p.Subset)
		}
		by[p.Subset] = append(by[p.Subset], p)
	}
	slices.SortFunc(names, func(a, b string) int { // the empty name last
		return cmp.Or(cmp.Compare(min(len(b), 1), min(len(a), 1)), strings.Compare(a, b))
	})
	var out []subset
	for _, name := range names {
		out = append(out, newSubset(cmp.Or(name, "no subset"), by[name]))
	}
	return out
}

func newSubset(label string, pods []view.PlanPod) subset {
	out := subset{Label: label, Pods: len(pods)}
	nodes := map[string]bool{}
	for _, p := range pods {
		if p.Node != "" {
			nodes[p.Node] = true
		}
		step := subsetStep{Number: p.Step, Label: "Not touched"}
		if p.Step > 0 {
			out.Changed++
			step.Label = fmt.Sprintf("Step %d, %s", p.Step, p.StepName)
		}
		i := slices.IndexFunc(out.Steps, func(s subsetStep) bool { return s.Number == p.Step })
		if i < 0 {
			out.Steps = append(out.Steps, step)
			i = len(out.Steps) - 1
		}
		name := p.Name
		if p.Tied {
			name += "~"
		}
		out.Steps[i].Names = append(out.Steps[i].Names, name)
	}
	slices.SortFunc(out.Steps, func(a, b subsetStep) int { // what is not touched last
		return cmp.Or(cmp.Compare(min(b.Number, 1), min(a.Number, 1)), cmp.Compare(a.Number, b.Number))
	})
	out.Nodes = len(nodes)
	return out
}
