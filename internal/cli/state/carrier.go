package state

import (
	"cmp"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// carriers are a namespace and a workload with so many pods for a SidecarSet whose
// input has no workload: labels are what its selectors ask for.
func carriers(set *kruise.SidecarSet, pods int) []*tree.Node {
	const name = "app"
	namespace := labelsFor(set.Spec.NamespaceSelector)
	in := cmp.Or(namespace[kruise.NamespaceNameLabel], "default")
	namespace[kruise.NamespaceNameLabel] = in
	labels := labelsFor(set.Spec.Selector)
	return []*tree.Node{
		tree.FromValue(map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": in, "labels": anyMap(namespace)},
		}),
		tree.FromValue(map[string]any{
			"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kruise.KindCloneSet,
			"metadata": map[string]any{"name": name, "namespace": in},
			"spec": map[string]any{
				"replicas": pods, "selector": map[string]any{"matchLabels": anyMap(labels)},
				"template": map[string]any{
					"metadata": map[string]any{"labels": anyMap(labels)},
					"spec":     map[string]any{"containers": []any{map[string]any{"name": name, "image": "app:1"}}},
				},
			},
		}),
	}
}

// labelsFor returns labels that a selector matches, as far as it asks for any.
func labelsFor(s *metav1.LabelSelector) map[string]string {
	out := map[string]string{}
	if s == nil {
		return out
	}
	maps.Copy(out, s.MatchLabels)
	for _, e := range s.MatchExpressions {
		switch {
		case e.Operator == metav1.LabelSelectorOpIn && len(e.Values) > 0:
			out[e.Key] = e.Values[0]
		case e.Operator == metav1.LabelSelectorOpExists:
			out[e.Key] = "true"
		}
	}
	return out
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
