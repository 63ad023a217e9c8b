package placement

import (
	"fmt"
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

// recordedLabels are the lines KEY=VALUE of the pod that is created.
const recordedLabels = `has(params.data) && object.metadata.name in params.data
  ? params.data[object.metadata.name].split("\n").filter(l, l.contains("="))
  : []`

// notYetPlaced lets pods alone that Kruise's own webhook, or a template, has
// placed.
const notYetPlaced = `!has(object.metadata.annotations)
  || !("` + kruise.InjectedPersistentPodStateAnnotation + `" in object.metadata.annotations)`

// ofTheWorkload finds the pods that the workload controls.
func (s *state) ofTheWorkload() string {
	return fmt.Sprintf(`has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o,
  has(o.controller) && o.controller && o.apiVersion.startsWith(%s) && o.kind == %s && o.name == %s)`,
		policy.Quote(resource.GroupOf(s.target.APIVersion)+"/"), policy.Quote(s.target.Kind), policy.Quote(s.target.Name))
}

// patch places a pod of which something was recorded. Node selector and affinity
// are atomic, so no apply configuration can change them.
func (s *state) patch() string {
	p := &policy.Patch{}
	if r := s.spec.RequiredPersistentTopology; r != nil {
		selector(p, r.Keys)
	}
	if len(s.spec.PreferredPersistentTopology) > 0 {
		affinity(p, s.spec.PreferredPersistentTopology)
	}
	p.Annotations()
	p.Annotate(kruise.InjectedPersistentPodStateAnnotation, policy.Quote(s.name))
	return "variables.labels.size() == 0 ? [] :\n" + p.String()
}

// selector sets a key of the node selector for each required label.
func selector(p *policy.Patch, keys []string) {
	p.When("!has(object.spec.nodeSelector)", policy.Op("add", policy.Quote(policy.Pointer("spec", "nodeSelector")), "{}"))
	for _, key := range keys {
		line := policy.Quote(key + "=")
		p.When(fmt.Sprintf("variables.labels.exists(l, l.startsWith(%s))", line),
			policy.Op("add", policy.Quote(policy.Pointer("spec", "nodeSelector", key)),
				fmt.Sprintf(`variables.labels.filter(l, l.startsWith(%s))[0].substring(%d)`, line, len(key)+1)))
	}
}

// affinity appends one preferred term for each of the spec.
func affinity(p *policy.Patch, terms []kruise.PreferredTopologyTerm) {
	const preferred = "preferredDuringSchedulingIgnoredDuringExecution"
	path := []string{"spec", "affinity", "nodeAffinity", preferred}
	depth := 1
	for _, level := range []struct{ has, value string }{
		{"has(object.spec.affinity)", "{}"},
		{"has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)", "{}"},
		{"has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity) && has(object.spec.affinity.nodeAffinity." + preferred + ")", "[]"},
	} {
		depth++
		p.When("!("+level.has+")", policy.Op("add", policy.Quote(policy.Pointer(path[:depth]...)), level.value))
	}
	for _, t := range terms {
		p.Do(policy.Op("add", policy.Quote(policy.Pointer(append(path, "-")...)),
			fmt.Sprintf(`{"weight": dyn(%d), "preference": dyn(%s)}`, t.Weight, preference(t.Preference.Keys))))
	}
}

// preference is the term with the labels that were recorded; one without any is
// empty, as Kruise writes it.
func preference(keys []string) string {
	return fmt.Sprintf(`
  !%[1]s.exists(k, variables.labels.exists(l, l.startsWith(k + "="))) ? {} : {"matchExpressions":
    %[1]s.filter(k, variables.labels.exists(l, l.startsWith(k + "="))).map(k, {
      "key": dyn(k), "operator": dyn("In"),
      "values": dyn(variables.labels.filter(l, l.startsWith(k + "=")).map(l, l.split("=")[1]))})}`, policy.Strings(keys))
}
