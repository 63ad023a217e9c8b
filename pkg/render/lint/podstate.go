package lint

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Rules about PersistentPodStates, and about the annotations that make one
// (docs/kruise/distribution.md#persistentpodstate).
var _ = advise(
	advice{
		Rule:  Rule{ID: "persistentpodstate/weight", Kind: kruise.KindPersistentPodState, Severity: Warning, Doc: "A weight below 1 or above 100 is accepted, and every pod that it is put into is refused."},
		kinds: []string{podState}, look: typed(podStateWeights),
	},
	advice{
		Rule:  Rule{ID: "statefulset/pod-state-annotations", Kind: kruise.KindStatefulSet, Severity: Warning, Doc: "Annotations that make a PersistentPodState: a switch without a topology makes none, a topology without the switch neither, and blanks around commas become part of the keys."},
		kinds: []string{statefulSet, "apps/StatefulSet"}, look: podStateAnnotations,
	},
)

func podStateWeights(s *subject, p *kruise.PersistentPodState) {
	for i, t := range p.Spec.PreferredPersistentTopology {
		if t.Weight < 1 || t.Weight > 100 {
			s.say(fmt.Sprintf("spec.preferredPersistentTopology[%d].weight", i), "from 1 to 100", "pods with the weight %d are refused by the API server: none that has a state will come back", t.Weight)
		}
	}
}

func podStateAnnotations(s *subject) {
	annotations := tree.Strings(tree.Get(s.r.Node(), "metadata", "annotations"))
	at := func(key string) string { return "metadata.annotations[" + key + "]" }
	topologies := []string{kruise.RequiredPersistentTopologyAnnotation, kruise.PreferredPersistentTopologyAnnotation}
	on := annotations[kruise.AutoGeneratePersistentPodStateAnnotation] == "true"
	if on && annotations[topologies[0]]+annotations[topologies[1]] == "" {
		s.say(at(kruise.AutoGeneratePersistentPodStateAnnotation), "add "+topologies[0]+" or "+topologies[1], "makes nothing: no topology is given")
	}
	_, switched := annotations[kruise.AutoGeneratePersistentPodStateAnnotation]
	for _, key := range append(topologies, kruise.PersistentPodAnnotationsAnnotation) {
		value, given := annotations[key]
		switch {
		case given && !switched:
			s.say(at(key), "add "+kruise.AutoGeneratePersistentPodStateAnnotation+`: "true"`, "does nothing: no PersistentPodState is made")
		case strings.ContainsAny(value, " \t\n"):
			s.say(at(key), "leave the blanks out", "blanks become part of the keys, which nothing has then")
		}
	}
}
