package html

import (
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
	var out []subset
	for _, list := range view.Grouped(pods, func(p view.PlanPod) string { return p.Subset }) {
		out = append(out, newSubset(list))
	}
	slices.SortFunc(out, func(a, b subset) int { return last(a.Label == "", b.Label == "", strings.Compare(a.Label, b.Label)) })
	if end := &out[len(out)-1]; end.Label == "" {
		end.Label = "no subset"
	}
	return out
}

// last orders by another comparison, but for what comes last.
func last(a, b bool, otherwise int) int {
	switch {
	case a == b:
		return otherwise
	case a:
		return 1
	}
	return -1
}

func newSubset(pods []view.PlanPod) subset {
	out := subset{Label: pods[0].Subset, Pods: len(pods)}
	nodes := map[string]bool{}
	for _, list := range view.Grouped(pods, func(p view.PlanPod) int { return p.Step }) {
		step := subsetStep{Number: list[0].Step, Label: "Not touched"}
		if step.Number > 0 {
			out.Changed += len(list)
			step.Label = fmt.Sprintf("Step %d, %s", step.Number, list[0].StepName)
		}
		for _, p := range list {
			nodes[p.Node] = true
			if p.Tied {
				p.Name += "~"
			}
			step.Names = append(step.Names, p.Name)
		}
		out.Steps = append(out.Steps, step)
	}
	slices.SortFunc(out.Steps, func(a, b subsetStep) int { return last(a.Number == 0, b.Number == 0, a.Number-b.Number) })
	delete(nodes, "")
	out.Nodes = len(nodes)
	return out
}
