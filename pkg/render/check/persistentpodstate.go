package check

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var _ = add(&kindRules{
	group: kruise.Group, kind: kruise.KindPersistentPodState, object: kruise.PersistentPodState{},
	check: persistentPodState,
})

var stateTarget = targetRule{
	path: "spec.targetRef", whiteList: kruise.PersistentPodStateWhiteListKey,
	permitted: []string{"apps/StatefulSet", "apps.kruise.io/StatefulSet"},
}

// persistentPodState holds the rules of the webhook
// (docs/kruise/distribution.md#persistentpodstate), and those that only the schema of v1beta1 has
// (10).
func persistentPodState(s *subject) {
	var state kruise.PersistentPodState
	if !s.read(&state) {
		return
	}
	spec := &state.Spec
	if targetNamed(s, stateTarget, &spec.TargetRef) {
		uniqueTarget(s, stateTarget, &spec.TargetRef)
	}
	if spec.RequiredPersistentTopology == nil && len(spec.PreferredPersistentTopology) == 0 {
		s.fault("spec.requiredPersistentTopology", "", "requiredPersistentTopology or preferredPersistentTopology is required")
	}
	if s.r.Version() == kruise.V1beta1 {
		if policy := "persistentPodStateRetentionPolicy"; tree.Get(s.r.Node(), "spec", policy) != nil {
			exactlyOneOf(s, "spec."+policy, spec.PersistentPodStateRetentionPolicy,
				kruise.PersistentPodStateRetainedWhenScaled, kruise.PersistentPodStateRetainedWhenDeleted)
		}
		for i, t := range spec.PreferredPersistentTopology {
			notNegative(s, fmt.Sprintf("spec.preferredPersistentTopology[%d].weight", i), &t.Weight)
		}
	}
	var old kruise.PersistentPodState
	if s.decodeOld(&old) {
		immutableFields(s, fieldChange{stateTarget.path, old.Spec.TargetRef, spec.TargetRef})
	}
}
