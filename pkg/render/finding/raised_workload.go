package finding

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// What becomes of a Deployment as a CloneSet (docs/kruise/workloads.md#percentages-and-defaults,
// docs/kruise/workloads.md#creation-ondelete-pause and docs/kruise/workloads.md#cloneset-status).
var _ = raisedTemplateRules(kruise.KindDeployment, "deployment", "spec.template") && register(
	raisedInPlace(kruise.KindDeployment, "deployment"),
	Rule{
		ID: "deployment/same", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.replicas", "spec.selector", "spec.minReadySeconds", "spec.revisionHistoryLimit"},
		Becomes: "the same field; both sides have the same default",
	},
	Rule{
		ID: "deployment/paused", Kind: kruise.KindDeployment, Severity: Approximate,
		Fields:  []string{"spec.paused"},
		Becomes: "updateStrategy.rollingUpdate.paused: no further pods are updated, but surge pods are removed",
		Action:  "finish a rollout before converting",
	},
	Rule{
		ID: "deployment/progress-deadline", Kind: kruise.KindDeployment, Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "the same field; but a CloneSet counts from the last change of its condition, so that a rollout begun later than that is reported as ProgressDeadlineExceeded at once",
		Action:  "do not act on this reason alone",
	},
	Rule{
		ID: "deployment/progress-deadline-none", Kind: kruise.KindDeployment, When: "not set", Severity: Approximate,
		Fields:  []string{"spec.progressDeadlineSeconds"},
		Becomes: "no deadline and no condition Progressing, where a Deployment has 600 seconds",
		Action:  "set progressDeadlineSeconds where something waits for the condition",
	},
	Rule{
		ID: "deployment/strategy", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.strategy"},
		Becomes: "the same maxSurge and maxUnavailable, written out because the defaults differ (25% and 25% against 0 and 20%); beside a surge both sides round alike",
	},
	Rule{
		ID: "deployment/max-unavailable-zero", Kind: kruise.KindDeployment, Severity: Exact,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "0% in place of 0, which v1beta1 refuses even beside maxSurge; both mean that a new pod comes first",
	},
	Rule{
		ID: "deployment/max-unavailable-rounded", Kind: kruise.KindDeployment, When: "no surge", Severity: Approximate,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "a number in place of the percentage, which a Deployment rounds down and a CloneSet without surge rounds up",
		Action:  "set a percentage that suits when replicas change",
	},
	Rule{
		ID: "deployment/max-unavailable-percent", Kind: kruise.KindDeployment, When: "no surge, and replicas are 0 or an autoscaler's", Severity: Approximate,
		Fields:  []string{"spec.strategy.rollingUpdate.maxUnavailable"},
		Becomes: "the percentage stays, but a CloneSet without surge rounds it up where a Deployment rounds down",
		Action:  "set a number if the difference of one pod matters",
	},
	Rule{
		ID: "deployment/recreate", Kind: kruise.KindDeployment, When: "Recreate", Severity: Lost,
		Fields:  []string{"spec.strategy.type"},
		Becomes: "maxUnavailable 100% without surge: all old pods go at once, but new ones start while the last old ones still end",
		Action:  "scale to 0 before an update where two versions must never meet",
	},
)

// What becomes of a StatefulSet as an Advanced StatefulSet
// (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-statefulset).
var _ = raisedTemplateRules("NativeStatefulSet", "nativestatefulset", "spec.template") && register(
	raisedInPlace("NativeStatefulSet", "nativestatefulset"),
	Rule{
		ID: "nativestatefulset/in-place-gate", Kind: "NativeStatefulSet", When: "--pod-update-policy InPlace…", Severity: Approximate,
		Fields:  []string{"spec.template"},
		Becomes: "the readiness gate InPlaceUpdateReady is added to the template, which an update in place needs: pods that run without it are recreated once",
		Action:  "expect one round of recreated pods",
	},
	Rule{
		ID: "nativestatefulset/same", Kind: "NativeStatefulSet", Severity: Exact,
		Fields: []string{
			"spec.replicas", "spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.revisionHistoryLimit",
			"spec.volumeClaimTemplates", "spec.persistentVolumeClaimRetentionPolicy",
		},
		Becomes: "the same field; both sides have the same default, and pods and claims keep their names",
	},
	Rule{
		ID: "nativestatefulset/type", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "the same type",
	},
	Rule{
		ID: "nativestatefulset/type-other", Kind: "NativeStatefulSet", When: "neither RollingUpdate nor OnDelete", Severity: Lost,
		Fields:  []string{"spec.updateStrategy.type"},
		Becomes: "RollingUpdate: an Advanced StatefulSet has no such type",
		Action:  "keep the StatefulSet where that matters",
	},
	Rule{
		ID: "nativestatefulset/partition", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.partition"},
		Becomes: "the same number: as many pods stay old, those with the lowest ordinals",
	},
	Rule{
		ID: "nativestatefulset/max-unavailable", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "the same value; both sides round down, to 1 at least, and default to 1",
	},
	Rule{
		ID: "nativestatefulset/max-unavailable-ordered", Kind: "NativeStatefulSet", When: "OrderedReady", Severity: Approximate,
		Fields:  []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
		Becomes: "left out: with podManagementPolicy OrderedReady, Kruise refuses more than 1",
		Action:  "nothing: it has little effect with OrderedReady; for more pods at a time make a new set with Parallel",
	},
	Rule{
		ID: "nativestatefulset/min-ready-seconds", Kind: "NativeStatefulSet", Severity: Exact,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "updateStrategy.rollingUpdate.minReadySeconds",
	},
	Rule{
		ID: "nativestatefulset/min-ready-seconds-most", Kind: "NativeStatefulSet", When: "more than 300", Severity: Approximate,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "300, the most that Kruise takes",
		Action:  "let a readiness probe answer later",
	},
	Rule{
		ID: "nativestatefulset/min-ready-seconds-none", Kind: "NativeStatefulSet", When: "OnDelete", Severity: Lost,
		Fields:  []string{"spec.minReadySeconds"},
		Becomes: "nothing: an Advanced StatefulSet has it in rollingUpdate, which OnDelete forbids",
		Action:  "let a readiness probe answer later",
	},
	Rule{
		ID: "nativestatefulset/ordinals", Kind: "NativeStatefulSet", Severity: Lost,
		Fields:  []string{"spec.ordinals"},
		Becomes: "the same field, which Kruise ignores unless its feature gate StatefulSetStartOrdinal is on (off by default): ordinals would begin at 0, with other pods and claims",
		Action:  "turn the gate on before applying",
	},
)

// What becomes of a DaemonSet as an Advanced DaemonSet
// (docs/kruise/workloads.md#percentages-and-defaults and
// docs/kruise/workloads.md#advanced-daemonset). Kruise's webhook leaves its template alone.
var _ = register(
	raisedInPlace("NativeDaemonSet", "nativedaemonset"),
	Rule{
		ID: "nativedaemonset/same", Kind: "NativeDaemonSet", Severity: Exact,
		Fields:  []string{"spec.selector", "spec.template", "spec.minReadySeconds", "spec.revisionHistoryLimit"},
		Becomes: "the same field; both sides have the same default",
	},
	Rule{
		ID: "nativedaemonset/strategy", Kind: "NativeDaemonSet", Severity: Exact,
		Fields:  []string{"spec.updateStrategy"},
		Becomes: "the same type, maxSurge and maxUnavailable; both sides round percentages of the nodes up and default to one unavailable pod",
	},
)

// What convert says of any kind.
var _ = register(
	Rule{
		ID: "convert/kept", Kind: "*", Severity: Exact,
		Becomes: "what the other kind cannot hold is kept in the annotation kubectl-kruise.dev/converted-from, so that converting back brings it back",
	},
	Rule{
		ID: "convert/restored", Kind: "*", Severity: Exact,
		Becomes: "what the other kind could not hold came back from the annotation kubectl-kruise.dev/converted-from",
	},
	Rule{
		ID: "convert/unknown-field", Kind: "*", Severity: Lost,
		Becomes: "the other kind has no such field, nor is it known what it means",
		Action:  "check its spelling",
	},
	Rule{
		ID: "convert/forgotten", Kind: "*", When: "--forget", Severity: Approximate,
		Becomes: "is not kept: converting back would not bring it back",
		Action:  "convert without --forget where there may be a way back",
	},
	Rule{
		ID: "convert/version", Kind: "*", When: "--to-version", Severity: Lost,
		Becomes: "the other version of the API has no such field",
		Action:  "keep the object in the version that has the field",
	},
)
