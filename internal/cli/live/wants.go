package live

import (
	"sort"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// wants lists the questions that rendering stream raises.
func wants(stream []*resource.Resource, namespace string, served map[string]bool) []want {
	list := []want{
		{what: "namespaces", resource: gvr("", "v1", "namespaces")},
		{what: "nodes", resource: gvr("", "v1", "nodes")},
	}
	kruiseVersion := version(served, kruise.Group)
	if has(stream, "SidecarSet") || kruiseVersion != "" {
		list = append(list,
			want{what: "stored SidecarSet revisions", resource: gvr("apps", "v1", "controllerrevisions"), namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel},
			want{what: "the SidecarSet whitelist", resource: gvr("", "v1", "configmaps"), namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName},
		)
	}
	for _, ns := range namespacesOf(stream, namespace) {
		list = append(list,
			want{what: "limit ranges in " + ns, resource: gvr("", "v1", "limitranges"), namespace: ns},
			want{what: "service accounts in " + ns, resource: gvr("", "v1", "serviceaccounts"), namespace: ns},
		)
	}
	list = append(list, subsets(stream, namespace, kruiseVersion)...)
	return append(list, distributed(stream, kruiseVersion)...)
}

// subsets asks for the workloads of the UnitedDeployments in stream, whose
// sizes decide where remainders go, and for their pods, which show what cannot
// be scheduled.
func subsets(stream []*resource.Resource, namespace, kruiseVersion string) []want {
	var list []want
	for _, ns := range namespacesOf(pick(stream, "UnitedDeployment"), namespace) {
		for _, r := range []string{"deployments", "statefulsets"} {
			list = append(list, want{what: r + " of subsets in " + ns, resource: gvr("apps", "v1", r), namespace: ns, selector: kruise.SubsetNameLabel})
		}
		if kruiseVersion == "" {
			continue
		}
		for _, r := range []string{"clonesets", "statefulsets"} {
			list = append(list, want{what: "Kruise " + r + " of subsets in " + ns, resource: gvr(kruise.Group, kruiseVersion, r), older: kruise.V1alpha1, namespace: ns, selector: kruise.SubsetNameLabel})
		}
		list = append(list,
			want{what: "UnitedDeployments in " + ns, resource: gvr(kruise.Group, kruiseVersion, "uniteddeployments"), older: kruise.V1alpha1, namespace: ns},
			want{what: "pods of subsets in " + ns, resource: gvr("", "v1", "pods"), namespace: ns, selector: kruise.SubsetNameLabel},
		)
	}
	return list
}

// distributed asks for the ConfigMaps that would be in the way of a copy.
// Secrets are never read: a conflict with one shows when the copy is applied.
func distributed(stream []*resource.Resource, kruiseVersion string) []want {
	names := map[string]bool{}
	for _, r := range pick(stream, "ResourceDistribution") {
		if tree.StrAt(r.Node(), "spec", "resource", "kind") == "ConfigMap" {
			names[tree.StrAt(r.Node(), "spec", "resource", "metadata", "name")] = true
		}
	}
	var list []want
	for _, name := range sorted(names) {
		list = append(list, want{what: "ConfigMaps named " + name, resource: gvr("", "v1", "configmaps"), fields: "metadata.name=" + name})
	}
	if len(pick(stream, "ResourceDistribution")) > 0 && kruiseVersion != "" {
		list = append(list, want{what: "ResourceDistributions", resource: gvr(kruise.Group, kruiseVersion, "resourcedistributions"), older: kruise.V1alpha1})
	}
	return list
}

func gvr(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// version returns the newest version of group that the server serves, "" when
// it serves none.
func version(served map[string]bool, group string) string {
	for _, v := range []string{kruise.V1beta1, kruise.V1alpha1} {
		if served[group+"/"+v] {
			return v
		}
	}
	return ""
}

func has(stream []*resource.Resource, kind string) bool { return len(pick(stream, kind)) > 0 }

func pick(stream []*resource.Resource, kind string) []*resource.Resource {
	var out []*resource.Resource
	for _, r := range stream {
		if r.Is(kruise.Group, kind) {
			out = append(out, r)
		}
	}
	return out
}

func namespacesOf(stream []*resource.Resource, fallback string) []string {
	if fallback == "" {
		fallback = resource.DefaultNamespace
	}
	names := map[string]bool{}
	for _, r := range stream {
		if tree.Get(r.Node(), "spec") == nil {
			continue
		}
		if ns := r.Namespace(); ns != "" {
			names[ns] = true
		} else {
			names[fallback] = true
		}
	}
	return sorted(names)
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
