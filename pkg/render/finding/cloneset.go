package finding

// The forms that a CloneSet can take (DESIGN section 3), as the catalogue
// names them.
const (
	toDeployment  = "becomes a Deployment"
	toStatefulSet = "becomes a StatefulSet"
	byClient      = "--driver client"
	toReplicaSet  = "--driver client, becomes a ReplicaSet"
)

// What becomes of the fields of a CloneSet that are no strategy (semantics
// workloads 1 and 5, sidecarset-and-protection 10).
var _ = register(
	Rule{
		ID: "cloneset/replicas", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.replicas"},
		Becomes: "the same field; both sides default to 1",
	},
	Rule{
		ID: "cloneset/selector", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.selector"},
		Becomes: "the same field; Services and budgets select the same pods",
	},
	Rule{
		ID: "cloneset/template", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.template"},
		Becomes: "the same template, as it was written, but for what other findings name",
	},
	Rule{
		ID: "cloneset/image-pull-policy", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.template.spec.containers[].imagePullPolicy"},
		Becomes: "Always is written into containers without a policy, as Kruise's webhook does whatever the tag; init containers follow their tag on both sides",
	},
	Rule{
		ID: "cloneset/readiness-gates", Kind: "CloneSet", Severity: Approximate,
		Fields:  []string{"spec.template.spec.readinessGates"},
		Becomes: "the gates InPlaceUpdateReady and KruisePodReady are removed: only Kruise sets them, and without it the pods would never become ready",
		Action:  "nothing, unless a controller of yours sets these conditions",
	},
	Rule{
		ID: "cloneset/launch-priority", Kind: "CloneSet", Severity: Lost,
		Fields: []string{
			"spec.template.metadata.annotations[apps.kruise.io/container-launch-priority]",
			"spec.template.spec.containers[].env[KRUISE_CONTAINER_PRIORITY]",
		},
		Becomes: "stays in the template, but without Kruise all containers start at once",
		Action:  "make what must start first an init container with restartPolicy Always (a native sidecar)",
	},
	Rule{
		ID: "cloneset/enhanced-liveness", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"spec.template.metadata.annotations[apps.kruise.io/using-enhanced-liveness]"},
		Becomes: "stays in the template, but liveness probes remain with the kubelet",
		Action:  "remove the annotation",
	},
	Rule{
		ID: "cloneset/delete-protection", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"metadata.labels[policy.kruise.io/delete-protection]"},
		Becomes: "the label stays, but without Kruise's webhook nothing refuses the deletion",
		Action:  "guard the label with a ValidatingAdmissionPolicy",
	},
	Rule{
		ID: "cloneset/min-ready-seconds", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "the same field",
	},
	Rule{
		ID: "cloneset/revision-history", Kind: "CloneSet", Severity: Exact,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "the same field; both sides default to 10",
	},
	Rule{
		ID: "cloneset/revision-history-client", Kind: "CloneSet", When: toReplicaSet, Severity: Lost,
		Fields:  []string{"spec.revisionHistoryLimit"},
		Becomes: "a ReplicaSet keeps no earlier templates",
		Action:  "go back by applying the earlier manifest",
	},
	Rule{
		ID: "cloneset/lifecycle", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "no hook is run: pods are deleted and started without waiting for labels or finalizers",
		Action:  "use a preStop hook, a finalizer on the pod or a readiness gate; or --driver client",
	},
	Rule{
		ID: "cloneset/lifecycle-client", Kind: "CloneSet", When: byClient, Severity: Approximate,
		Fields:  []string{"spec.lifecycle"},
		Becomes: "hooks are honoured for pods that this tool replaces, and by nobody while it does not run",
		Action:  "do not rely on hooks for evictions and scaling done by others",
	},
)

// Scaling and volume claims (semantics workloads 1.1, 1.9).
var _ = register(
	Rule{
		ID: "cloneset/pods-to-delete", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "no pod is chosen by name",
		Action:  "set the annotation controller.kubernetes.io/pod-deletion-cost on these pods before scaling in (Deployment only), or delete them",
	},
	Rule{
		ID: "cloneset/pods-to-delete-client", Kind: "CloneSet", When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.podsToDelete"},
		Becomes: "kept in the strategy annotation: this tool deletes these pods, nobody else does",
		Action:  "scale in with this tool",
	},
	Rule{
		ID: "cloneset/scale-max-unavailable", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.maxUnavailable"},
		Becomes: "missing pods are created all at once, however many are unavailable",
		Action:  "scale out in steps where that matters",
	},
	Rule{
		ID: "cloneset/exclude-preparing-delete", Kind: "CloneSet", Severity: Lost,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "nothing: without lifecycle hooks no pod is held back from deletion",
		Action:  "nothing: see cloneset/lifecycle",
	},
	Rule{
		ID: "cloneset/exclude-preparing-delete-client", Kind: "CloneSet", When: byClient, Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.excludePreparingDelete"},
		Becomes: "a pod that waits for its hook still counts for the native controller until it is deleted",
		Action:  "keep the preDelete hooks short",
	},
	Rule{
		ID: "cloneset/pvc-reuse", Kind: "CloneSet", When: toStatefulSet + ", reuse is off", Severity: Approximate,
		Fields:  []string{"spec.scaleStrategy.enablePVCReuse"},
		Becomes: "a pod that is lost finds the claims of its ordinal again, where a CloneSet without reuse makes new ones",
		Action:  "delete the claim together with the pod where an empty volume is wanted",
	},
	Rule{
		ID: "cloneset/volume-claims", Kind: "CloneSet", When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "claims are named by ordinal (TEMPLATE-NAME-0 …) and the field cannot change later; claims that a CloneSet made are not taken over",
		Action:  "move the data of existing claims before switching",
	},
	Rule{
		ID: "cloneset/claim-retention", Kind: "CloneSet", When: toStatefulSet, Severity: Approximate,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "persistentVolumeClaimRetentionPolicy is Delete, because a CloneSet's claims go with their pod and with the CloneSet; but a pod that an update recreates keeps its claim here, where Kruise gives it a new one",
		Action:  "delete the claim together with the pod where an update must start from an empty volume",
	},
	Rule{
		ID: "cloneset/headless-service", Kind: "CloneSet", When: toStatefulSet, Severity: Exact,
		Fields:  []string{"spec.volumeClaimTemplates"},
		Becomes: "a headless Service without ports is added, which a StatefulSet needs; pods get DNS names from it once ready",
	},
)
