package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The cases that rules about PersistentPodStates distinguish.
const (
	inOnePlace    = "every pod has the same recorded state"
	inManyPlaces  = "pods have states of their own; --kubernetes-version 1.36 or newer, or --allow-preview-apis"
	podStateField = "spec.requiredPersistentTopology"
)

// What becomes of a PersistentPodState (docs/kruise/distribution.md#persistentpodstate).
var persistentPodStateRules = []Rule{
	{
		ID: "persistentpodstate/target", Kind: kruise.KindPersistentPodState, Severity: Exact,
		Fields:  []string{"spec.targetRef"},
		Becomes: "the recorded state is applied to the pods of the object that replaces the target",
	},
	{
		ID: "persistentpodstate/template", Kind: kruise.KindPersistentPodState, When: inOnePlace, Severity: Approximate,
		Fields:  []string{podStateField, "spec.preferredPersistentTopology"},
		Becomes: "node selector and preferred node affinity in the pod template: the template changes, so pods are replaced once, and pods that are added later get it, too",
		Action:  "keep the state that was rendered in Git (--with), so that the template stays the same",
	},
	{
		ID: "persistentpodstate/policy", Kind: kruise.KindPersistentPodState, When: inManyPlaces, Severity: Exact,
		Fields:  []string{podStateField, "spec.preferredPersistentTopology"},
		Becomes: "a ConfigMap with the recorded state of each pod, and a MutatingAdmissionPolicy with its binding that puts the same node selector and preferred node affinity into a pod of that name",
	},
	{
		ID: "persistentpodstate/recording", Kind: kruise.KindPersistentPodState, Severity: Approximate,
		Becomes: "later moves of pods are not recorded: the output contains what is known at rendering",
		Action:  "render again with --live, or with pods and nodes in --with, after pods have moved",
	},
	{
		ID: "persistentpodstate/older", Kind: kruise.KindPersistentPodState, When: "pods have states of their own; --kubernetes-version below 1.36", Severity: Lost,
		Fields:  []string{podStateField, "spec.preferredPersistentTopology"},
		Becomes: "not rendered: one template cannot place individual pods, and the API server does not serve MutatingAdmissionPolicy v1",
		Action:  "if the preview of that API is enabled, use --allow-preview-apis; or keep pods in place by zonal volumes, or by one StatefulSet for each zone with its own nodeSelector",
	},
	{
		ID: "persistentpodstate/nothing-recorded", Kind: kruise.KindPersistentPodState, When: "no state is known", Severity: Lost,
		Fields:  []string{podStateField, "spec.preferredPersistentTopology"},
		Becomes: "not rendered: no pod of the target has a recorded state",
		Action:  "give the state with --with (the PersistentPodState with its status, or pods and nodes) or --live",
	},
	{
		ID: "persistentpodstate/split", Kind: kruise.KindPersistentPodState, When: "the target became several workloads", Severity: Lost,
		Fields:  []string{"spec.targetRef"},
		Becomes: "not rendered: the pods have other names now, and no state was recorded for those",
		Action:  "place the parts by their own nodeSelector or affinity",
	},
	{
		ID: "persistentpodstate/weight", Kind: kruise.KindPersistentPodState, When: "a weight below 1 or above 100", Severity: Approximate,
		Fields:  []string{"spec.preferredPersistentTopology[].weight"},
		Becomes: "the term is left out: the API server refuses pods with such a weight, also with Kruise",
		Action:  "give a weight from 1 to 100",
	},
	{
		ID: "persistentpodstate/annotations", Kind: kruise.KindPersistentPodState, Severity: Lost,
		Fields:  []string{"spec.persistentPodAnnotations"},
		Becomes: "not rendered: Kruise stores them in its status, but restores them in no pod either",
		Action:  "keep what pods need in the template, or in their volumes",
	},
	{
		ID: "persistentpodstate/retention", Kind: kruise.KindPersistentPodState, When: "WhenScaled, the default", Severity: Approximate,
		Fields:  []string{"spec.persistentPodStateRetentionPolicy"},
		Becomes: "states of pods beyond the replicas of the workload are left out; until the next rendering, a pod that is scaled in and out again gets its state back",
		Action:  "render again after the workload was scaled in",
	},
	{
		ID: "persistentpodstate/retention-deleted", Kind: kruise.KindPersistentPodState, When: "WhenDeleted", Severity: Exact,
		Fields:  []string{"spec.persistentPodStateRetentionPolicy"},
		Becomes: "states of pods that are scaled in are kept",
	},
}
