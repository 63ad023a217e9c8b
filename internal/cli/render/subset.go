package render

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// subsetsOf returns the subset of a UnitedDeployment or WorkloadSpread that each of list belongs
// to, "" for those that belong to none or to more than one: where each subset has a cluster of its
// own, the former go to that cluster. In this order, an object belongs to the subset
//
//   - for which it was made: the workload, and what the workload needs, such as a headless
//     Service;
//   - that its label names, as a workload of a subset has it, whatever wrote it;
//   - of the object that it names as its target, as an autoscaler does;
//   - whose pods alone it selects, as a Service or a budget can.
func subsetsOf(list []*resource.Resource) []string {
	out := make([]string, len(list))
	targets, known := map[resource.ID]string{}, map[string]bool{}
	for i, r := range list {
		if out[i] = subsetOf(r); out[i] != "" {
			targets[r.ID()], known[out[i]] = out[i], true
		}
	}
	if len(known) == 0 {
		return out
	}
	for i, r := range list {
		if out[i] == "" {
			out[i] = targets[target(r)]
		}
		if out[i] != "" {
			continue
		}
		if name := selected(r); known[name] {
			out[i] = name
		}
	}
	return out
}

// subsetKeys name the subset on workloads and pods, the one of a UnitedDeployment first: what a
// WorkloadSpread divides within it stays in it.
var subsetKeys = []string{kruise.SubsetNameLabel, kruise.SpreadSubsetLabel}

func subsetOf(r *resource.Resource) string {
	if name := r.Subset(); name != "" {
		return name
	}
	return subsetLabel(r.Labels())
}

func subsetLabel(set map[string]string) string {
	for _, key := range subsetKeys {
		if name := set[key]; name != "" {
			return name
		}
	}
	return ""
}

// target is the object that r scales or guards; empty where r names none.
func target(r *resource.Resource) resource.ID {
	for _, field := range []string{"scaleTargetRef", "targetRef"} {
		ref := tree.Get(r.Node(), "spec", field)
		if name := tree.StrAt(ref, "name"); name != "" {
			return resource.ID{Group: resource.GroupOf(tree.StrAt(ref, "apiVersion")), Kind: tree.StrAt(ref, "kind"), Namespace: r.Namespace(), Name: name}
		}
	}
	return resource.ID{}
}

// selected is the subset that all pods have which r selects.
func selected(r *resource.Resource) string {
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "podSelector", "matchLabels"}, {"spec", "selector"}} {
		if name := subsetLabel(tree.Strings(tree.Get(r.Node(), path...))); name != "" {
			return name
		}
	}
	return ""
}
