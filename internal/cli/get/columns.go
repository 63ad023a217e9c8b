package get

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// column is one column of the table of a kind, beside the name.
type column struct {
	title string
	// wide columns are those of -o wide.
	wide bool
	show cell
}

var (
	created = column{title: "AGE", show: age("metadata.creationTimestamp")}
	// The two versions of a CloneSet have these in different places.
	partition = wide("PARTITION", at("spec.updateStrategy.partition", "spec.updateStrategy.rollingUpdate.partition"))
	paused    = wide("PAUSED", at("spec.updateStrategy.paused", "spec.updateStrategy.rollingUpdate.paused"))
)

func shown(title string, c cell) column { return column{title: title, show: c} }

func wide(title string, c cell) column { return column{title: title, wide: true, show: c} }

// images are the last columns of whatever has a template.
func images(spec string) []column {
	return []column{
		wide("CONTAINERS", each(spec+".containers", "name")),
		wide("IMAGES", each(spec+".containers", "image")),
	}
}

const podSpec = "spec.template.spec"

// tables are the columns of each kind. Those of the older plugin, and of Kruise's own
// definitions, stay in their places (docs/facts/older-plugin.md#describe-get-completion): scripts
// cut them out by number.
var tables = map[schema.GroupKind][]column{
	kind(kruise.KindCloneSet): append([]column{
		shown("DESIRED", at("spec.replicas")), shown("UPDATED", count("status.updatedReplicas")),
		shown("UPDATED_READY", count("status.updatedReadyReplicas")), shown("UPDATED_AVAILABLE", count("status.updatedAvailableReplicas")),
		shown("READY", count("status.readyReplicas")), shown("TOTAL", count("status.replicas")), created,
		partition, paused, wide("SELECTOR", selector),
	}, images(podSpec)...),
	kind(kruise.KindStatefulSet): append([]column{
		shown("DESIRED", at("spec.replicas")), shown("CURRENT", count("status.replicas")), shown("UPDATED", count("status.updatedReplicas")),
		shown("READY", count("status.readyReplicas")), created,
		partition, paused, wide("SELECTOR", selector),
	}, images(podSpec)...),
	kind(kruise.KindDaemonSet): append([]column{
		shown("DESIRED", count("status.desiredNumberScheduled")), shown("CURRENT", count("status.currentNumberScheduled")),
		shown("READY", count("status.numberReady")), shown("UP-TO-DATE", count("status.updatedNumberScheduled")),
		shown("AVAILABLE", count("status.numberAvailable")), created,
		partition, paused, wide("SELECTOR", selector),
	}, images(podSpec)...),
	kind(kruise.KindUnitedDeployment): {
		shown("DESIRED", at("spec.replicas")), shown("CURRENT", count("status.replicas")), shown("UPDATED", count("status.updatedReplicas")),
		shown("READY", count("status.readyReplicas")), created,
		wide("SUBSETS", each("spec.topology.subsets", "name")), wide("SELECTOR", selector),
	},
	kind(kruise.KindSidecarSet): append([]column{
		shown("MATCHED", count("status.matchedPods")), shown("UPDATED", count("status.updatedPods")), shown("READY", count("status.readyPods")), created,
		partition, paused, wide("SELECTOR", selector),
	}, images("spec")...),
	kind(kruise.KindBroadcastJob): append([]column{
		shown("DESIRED", count("status.desired")), shown("ACTIVE", count("status.active")), shown("SUCCEEDED", count("status.succeeded")),
		shown("FAILED", count("status.failed")), created, wide("PHASE", at("status.phase")),
	}, images(podSpec)...),
	kind(kruise.KindAdvancedCronJob): {
		shown("SCHEDULE", at("spec.schedule")), shown("TYPE", at("status.type")), shown("LASTSCHEDULETIME", age("status.lastScheduleTime")), created,
		wide("PAUSED", at("spec.paused")), wide("TIMEZONE", at("spec.timeZone")), wide("ACTIVE", size("status.active")),
	},
	kind(kruise.KindContainerRecreateRequest): {
		shown("PHASE", at("status.phase")), shown("POD", at("spec.podName")), shown("NODE", nodeOfRequest), created,
		wide("CONTAINERS", each("spec.containers", "name")),
	},
	kind(kruise.KindEphemeralJob): {
		shown("STATUS", at("status.phase")), shown("MATCH", count("status.match")), shown("SUCCEED", count("status.succeeded")),
		shown("FAILED", count("status.failed")), shown("RUNNING", count("status.running")), shown("WAITING", count("status.waiting")), created,
		wide("SELECTOR", selector),
	},
	kind(kruise.KindImagePullJob): {
		shown("TOTAL", count("status.desired")), shown("ACTIVE", count("status.active")), shown("SUCCEED", count("status.succeeded")),
		shown("FAILED", count("status.failed")), created, shown("MESSAGE", at("status.message")), wide("IMAGE", at("spec.image")),
	},
	kind(kruise.KindImageListPullJob): {
		shown("TOTAL", count("status.desired")), shown("SUCCEEDED", count("status.succeeded")), shown("COMPLETED", count("status.completed")), created,
		wide("IMAGES", list("spec.images")),
	},
	kind(kruise.KindNodeImage): {
		shown("DESIRED", count("status.desired")), shown("PULLING", count("status.pulling")), shown("SUCCEED", count("status.succeeded")),
		shown("FAILED", count("status.failed")), created,
	},
	kind(kruise.KindNodePodProbe):       {shown("PODS", size("spec.podProbes")), shown("REPORTED", size("status.podProbeStatuses")), created},
	kind(kruise.KindPersistentPodState): {shown("TARGET", reference("spec.targetRef")), shown("PODS", size("status.podStates")), created},
	kind(kruise.KindPodProbeMarker): {
		shown("PROBES", each("spec.probes", "name")), shown("MATCHED", count("status.matchedPods")), created, wide("SELECTOR", selector),
	},
	kind(kruise.KindResourceDistribution): {
		shown("TOTAL", count("status.desired")), shown("SUCCEED", count("status.succeeded")), shown("FAILED", count("status.failed")), created,
		wide("RESOURCE", distributed),
	},
	kind(kruise.KindWorkloadSpread): {
		shown("WORKLOADNAME", at("spec.targetRef.name")), shown("WORKLOADKIND", at("spec.targetRef.kind")), shown("ADAPTIVE", adaptive), created,
		wide("SUBSETS", each("spec.subsets", "name")),
	},
	{Group: kruise.PolicyGroup, Kind: kruise.KindPodUnavailableBudget}: {
		shown("ALLOWED", count("status.unavailableAllowed")), shown("CURRENT", count("status.currentAvailable")),
		shown("DESIRED", count("status.desiredAvailable")), shown("TOTAL", count("status.totalReplicas")), created,
		wide("TARGET", reference("spec.targetRef")), wide("SELECTOR", selector),
	},
	{Group: release.Group, Kind: "Rollout"}: {
		shown("STATUS", at("status.phase")), shown("CANARY_STEP", releaseStep), shown("CANARY_STATE", releaseState),
		shown("MESSAGE", at("status.message")), created,
		wide("WORKLOAD", reference("spec.workloadRef", "spec.objectRef.workloadRef")), wide("STRATEGY", releaseStyle),
	},
}

func kind(name string) schema.GroupKind { return schema.GroupKind{Group: kruise.Group, Kind: name} }
