package placement

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// annotations maps annotations of a workload to the fields that they replace.
var annotations = map[string]string{
	"spec.targetRef":                   kruise.AutoGeneratePersistentPodStateAnnotation,
	"spec.requiredPersistentTopology":  kruise.RequiredPersistentTopologyAnnotation,
	"spec.preferredPersistentTopology": kruise.PreferredPersistentTopologyAnnotation,
	"spec.persistentPodAnnotations":    kruise.PersistentPodAnnotationsAnnotation,
}

// report adds a finding about a field, given by its path in the newest version.
func (s *state) report(id, field string) {
	if s.source.Is(kruise.Group, Kind) {
		field = kruise.Written(s.source.Node(), field)
	} else if key, ok := annotations[field]; ok {
		field = "metadata.annotations[" + key + "]"
	} else {
		field = ""
	}
	s.c.Findings.Add(id, s.source, field, "")
}

// reportTopology adds a finding about the topology that the spec has.
func (s *state) reportTopology(id string) {
	if s.spec.RequiredPersistentTopology != nil {
		s.report(id, "spec.requiredPersistentTopology")
	}
	if len(s.spec.PreferredPersistentTopology) > 0 {
		s.report(id, "spec.preferredPersistentTopology")
	}
}

// reportSpec reports the fields whose end does not depend on what is recorded,
// and drops the terms that no pod can have.
func (s *state) reportSpec() {
	s.report("persistentpodstate/target", "spec.targetRef")
	if len(s.spec.PersistentPodAnnotations) > 0 {
		s.report("persistentpodstate/annotations", "spec.persistentPodAnnotations")
	}
	for i, t := range s.spec.PreferredPersistentTopology {
		if !hasValidWeight(t) {
			s.report("persistentpodstate/weight", fmt.Sprintf("spec.preferredPersistentTopology[%d].weight", i))
		}
	}
	s.spec.PreferredPersistentTopology = slices.DeleteFunc(slices.Clone(s.spec.PreferredPersistentTopology),
		func(t kruise.PreferredTopologyTerm) bool { return !hasValidWeight(t) })
}

// reportPolicy reports what becomes of the fields in a policy.
func (s *state) reportPolicy() {
	s.reportTopology("persistentpodstate/policy")
	s.report("persistentpodstate/recording", "")
	id := "persistentpodstate/retention"
	if s.spec.PersistentPodStateRetentionPolicy == kruise.PersistentPodStateRetainedWhenDeleted {
		id = "persistentpodstate/retention-deleted"
	}
	s.report(id, "spec.persistentPodStateRetentionPolicy")
}

// hasValidWeight reports whether Kubernetes takes the term's weight.
func hasValidWeight(t kruise.PreferredTopologyTerm) bool { return t.Weight >= 1 && t.Weight <= 100 }
