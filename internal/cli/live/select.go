package live

import (
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// conflicts asks for the ConfigMaps that would be in the way of a copy: those
// with the name of what the stream distributes or, for an inventory, of what
// the cluster does. Secrets are never read: a conflict with one shows when the
// copy is applied.
func conflicts(scope Scope, found []fact) []want {
	distributions := pick(scope.Stream, kruise.KindResourceDistribution)
	for _, f := range found {
		r := resource.Parsed(f.node, nil, resource.Origin{})
		if scope.Stream == nil && r.Is(kruise.Group, kruise.KindResourceDistribution) {
			distributions = append(distributions, r)
		}
	}
	names := map[string]bool{}
	for _, r := range distributions {
		if tree.StrAt(r.Node(), "spec", "resource", "kind") == "ConfigMap" {
			names[tree.StrAt(r.Node(), "spec", "resource", "metadata", "name")] = true
		}
	}
	var list []want
	for _, name := range sorted(names) {
		list = append(list, want{kind: copies, what: "ConfigMaps named " + name, fields: "metadata.name=" + name})
	}
	return list
}

// frozen reports an immutable copy: whether it can be replaced depends on what
// is in it, which whoever distributes it has anyway.
func frozen(object map[string]any) bool {
	n := tree.FromValue(object)
	return tree.Bool(tree.Get(n, "immutable")) && slices.ContainsFunc(tree.Items(tree.Get(n, "metadata", "ownerReferences")), func(ref *tree.Node) bool {
		return tree.Bool(tree.Get(ref, "controller")) && resource.GroupOf(tree.StrAt(ref, "apiVersion")) == kruise.Group && tree.StrAt(ref, "kind") == kruise.KindResourceDistribution
	})
}

// weighs reports a pod that counts when replicas are divided: one that waits
// for a node, or that is kept in reserve.
func weighs(object map[string]any) bool {
	n := tree.FromValue(object)
	return tree.StrAt(n, "status", "phase") == "Pending" && tree.StrAt(n, "spec", "nodeName") == "" ||
		tree.StrAt(n, "metadata", "labels", kruise.UnitedDeploymentReservedPodLabel) == "true"
}

// placed reports a pod that is on a node and has not ended.
func placed(object map[string]any) bool {
	n := tree.FromValue(object)
	phase := tree.StrAt(n, "status", "phase")
	return tree.StrAt(n, "spec", "nodeName") != "" && phase != "Succeeded" && phase != "Failed"
}

// scalesKruise reports an autoscaler of one of Kruise's workloads, or of what one
// is lowered to.
func scalesKruise(object map[string]any) bool {
	ref := tree.Get(tree.FromValue(object), "spec", "scaleTargetRef")
	return slices.Contains([]string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment}, tree.StrAt(ref, "kind")) &&
		resource.GroupOf(tree.StrAt(ref, "apiVersion")) == kruise.Group
}

func nameOf(object map[string]any) string {
	return tree.StrAt(tree.FromValue(object), "metadata", "name")
}

// title is the plural for people.
func (k *kind) title() string {
	if k.group == kruise.Group {
		return "Kruise " + k.resource
	}
	return k.resource
}

func pick(stream []*resource.Resource, kinds ...string) []*resource.Resource {
	var out []*resource.Resource
	for _, r := range stream {
		if (r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup) && slices.Contains(kinds, r.Kind()) {
			out = append(out, r)
		}
	}
	return out
}

func sorted[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
