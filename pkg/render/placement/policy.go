package placement

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// policyObjects are the ConfigMap with the states, the policy that reads it, and
// the binding of the two. Each PersistentPodState has its own, so that each goes
// when its application goes.
func (s *state) policyObjects(apiVersion string, states map[string]kruise.PodState) []*resource.Resource {
	p := &policy.Policy{
		Name:       policy.Name(Kind, s.namespace, s.name),
		Source:     kruise.SourceValue(Kind, s.name),
		Namespaces: tree.Map("matchLabels", tree.Map(kruise.NamespaceNameLabel, s.namespace)),
		Conditions: []policy.Named{{Name: "of-the-workload", Expression: s.ofTheWorkload()}, {Name: "not-yet-placed", Expression: notYetPlaced}},
		Variables:  []policy.Named{{Name: "labels", Expression: recordedLabels}},
		Patch:      s.patch(),
		Params:     &policy.Params{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.namespace, Name: s.configMapName()},
	}
	out := []*resource.Resource{resource.Derived(s.configMap(states), s.place)}
	for _, n := range p.Objects(apiVersion) {
		out = append(out, resource.Derived(n, s.place))
	}
	return out
}

func (s *state) configMapName() string {
	const longest = 253
	return stage.PieceName(s.name, "pod-states", longest, false)
}

// configMap holds for each pod the labels of its node, one KEY=VALUE a line.
func (s *state) configMap(states map[string]kruise.PodState) *tree.Node {
	data := tree.Map()
	for _, pod := range slices.Sorted(maps.Keys(states)) {
		var lines strings.Builder
		labels := states[pod].NodeTopologyLabels
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			lines.WriteString(key + "=" + labels[key] + "\n")
		}
		if lines.Len() > 0 {
			text := tree.String(lines.String())
			text.Style = yaml.LiteralStyle
			tree.Set(data, pod, text)
		}
	}
	return tree.Map("apiVersion", "v1", "kind", "ConfigMap",
		"metadata", tree.Map("name", s.configMapName(), "namespace", s.namespace,
			"labels", tree.Map(kruise.SourceLabel, kruise.SourceValue(Kind, s.name))),
		"data", data)
}
