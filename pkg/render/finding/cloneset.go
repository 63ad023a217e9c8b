package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// The forms that a CloneSet can take (docs/fidelity.md), as the catalogue
// names them.
const (
	toDeployment  = "becomes a Deployment"
	toStatefulSet = "becomes a StatefulSet"
	byClient      = "--driver client"
	toReplicaSet  = "--driver client, becomes a ReplicaSet"
)

// What becomes of the fields of a CloneSet that are no strategy (docs/kruise/workloads.md#cloneset
// and docs/kruise/workloads.md#what-is-added-to-pods,
// docs/kruise/sidecarset.md#observed-on-a-cluster).
var _ = workloadRules(kruise.KindCloneSet, "cloneset") && register(
	alwaysPulled(kruise.KindCloneSet, "cloneset"),
	Rule{
		ID: "cloneset/replicas", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.replicas"},
		Becomes: "the same field; both sides default to 1",
	},
	Rule{
		ID: "cloneset/min-ready-seconds", Kind: kruise.KindCloneSet, Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "the same field",
	},
	Rule{
		ID: "cloneset/revision-history-client", Kind: kruise.KindCloneSet, When: toReplicaSet, Severity: Lost,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "a ReplicaSet keeps no earlier templates",
		Action:  "go back by applying the earlier manifest",
	},
	Rule{
		ID: "cloneset/lifecycle", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "no hook is run: pods are deleted and started without waiting for labels or finalizers",
		Action:  "use a preStop hook, a finalizer on the pod or a readiness gate; or --driver client",
	},
	Rule{
		ID: "cloneset/lifecycle-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "hooks are honored only for pods that this tool replaces, while it runs",
		Action:  "do not rely on hooks for evictions and scaling done by others",
	},
)

// Scaling and volume claims (docs/kruise/workloads.md#revisions and
// docs/kruise/workloads.md#named-pods-and-claims).
var _ = register(
	Rule{
		ID: "cloneset/pods-to-delete", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "no pod is chosen by name",
		Action:  "set the annotation controller.kubernetes.io/pod-deletion-cost on these pods before scaling in (Deployment only), or delete them",
	},
	Rule{
		ID: "cloneset/pods-to-delete-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "kept in the strategy annotation: this tool deletes these pods; no controller does",
		Action:  "scale in with this tool",
	},
	Rule{
		ID: "cloneset/scale-max-unavailable", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.maxUnavailable"},
		Becomes: "missing pods are created all at once, however many are unavailable",
		Action:  "scale out in steps where that matters",
	},
	Rule{
		ID: "cloneset/exclude-preparing-delete", Kind: kruise.KindCloneSet, Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "nothing: without lifecycle hooks no pod is held back from deletion",
		Action:  "nothing: see cloneset/lifecycle",
	},
	Rule{
		ID: "cloneset/exclude-preparing-delete-client", Kind: kruise.KindCloneSet, When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "a pod that waits for its hook still counts for the native controller until it is deleted",
		Action:  "keep the preDelete hooks short",
	},
	Rule{
		ID: "cloneset/pvc-reuse", Kind: kruise.KindCloneSet, When: toStatefulSet + ", reuse is off", Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.enablePVCReuse"},
		Becomes: "a pod that is lost finds the claims of its ordinal again, where a CloneSet without reuse makes new ones",
		Action:  "delete the claim together with the pod where an empty volume is wanted",
	},
	Rule{
		ID: "cloneset/volume-claims", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "claims are named by ordinal (TEMPLATE-NAME-0 …) and the field cannot change later; claims that a CloneSet made are not taken over",
		Action:  "move the data of existing claims before switching",
	},
	Rule{
		ID: "cloneset/claim-retention", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "persistentVolumeClaimRetentionPolicy is Delete, because a CloneSet's claims go with their pod and with the CloneSet; but a pod that an update recreates keeps its claim here, where Kruise gives it a new one",
		Action:  "delete the claim together with the pod where an update must start from an empty volume",
	},
	Rule{
		ID: "cloneset/name", Kind: kruise.KindCloneSet, When: toStatefulSet + ", with a dot in its name or more than 52 characters", Severity: Approximate,
		Becomes: "a StatefulSet cannot have this name: dots become dashes, what is too long ends in a hash",
		Action:  "refer to the new name",
	},
	Rule{
		ID: "cloneset/headless-service", Kind: kruise.KindCloneSet, When: toStatefulSet, Severity: Exact,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "a headless Service without ports is added, which a StatefulSet needs; pods get DNS names from it once ready",
	},
)
