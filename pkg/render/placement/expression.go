package placement

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

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
