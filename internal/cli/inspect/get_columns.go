package inspect

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

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
	created = column{title: "AGE", show: ageCell("metadata.creationTimestamp")}
	// The two versions of a CloneSet have these in different places.
	partition = wideColumn("PARTITION", fieldCell("spec.updateStrategy.partition", "spec.updateStrategy.rollingUpdate.partition"))
	paused    = wideColumn("PAUSED", fieldCell("spec.updateStrategy.paused", "spec.updateStrategy.rollingUpdate.paused"))
)

func showColumn(title string, c cell) column { return column{title: title, show: c} }

func wideColumn(title string, c cell) column { return column{title: title, wide: true, show: c} }

// imagesColumns are the last columns of whatever has a template.
func imagesColumns(spec string) []column {
	return []column{
		wideColumn("CONTAINERS", eachCell(spec+".containers", "name")),
		wideColumn("IMAGES", eachCell(spec+".containers", "image")),
	}
}

const podSpec = "spec.template.spec"

// tables are the columns of each kind. Those of the older plugin, and of Kruise's own
// definitions, stay in their places (docs/facts/older-plugin.md#describe-get-completion): scripts
// cut them out by number.
var tables = map[schema.GroupKind][]column{
	kruiseKind(kruise.KindCloneSet): append([]column{
		showColumn("DESIRED", fieldCell("spec.replicas")), showColumn("UPDATED", countCell("status.updatedReplicas")),
		showColumn("UPDATED_READY", countCell("status.updatedReadyReplicas")), showColumn("UPDATED_AVAILABLE", countCell("status.updatedAvailableReplicas")),
		showColumn("READY", countCell("status.readyReplicas")), showColumn("TOTAL", countCell("status.replicas")), created,
		partition, paused, wideColumn("SELECTOR", selectorCell),
	}, imagesColumns(podSpec)...),
	kruiseKind(kruise.KindStatefulSet): append([]column{
		showColumn("DESIRED", fieldCell("spec.replicas")), showColumn("CURRENT", countCell("status.replicas")), showColumn("UPDATED", countCell("status.updatedReplicas")),
		showColumn("READY", countCell("status.readyReplicas")), created,
		partition, paused, wideColumn("SELECTOR", selectorCell),
	}, imagesColumns(podSpec)...),
	kruiseKind(kruise.KindDaemonSet): append([]column{
		showColumn("DESIRED", countCell("status.desiredNumberScheduled")), showColumn("CURRENT", countCell("status.currentNumberScheduled")),
		showColumn("READY", countCell("status.numberReady")), showColumn("UP-TO-DATE", countCell("status.updatedNumberScheduled")),
		showColumn("AVAILABLE", countCell("status.numberAvailable")), created,
		partition, paused, wideColumn("SELECTOR", selectorCell),
	}, imagesColumns(podSpec)...),
	kruiseKind(kruise.KindUnitedDeployment): {
		showColumn("DESIRED", fieldCell("spec.replicas")), showColumn("CURRENT", countCell("status.replicas")), showColumn("UPDATED", countCell("status.updatedReplicas")),
		showColumn("READY", countCell("status.readyReplicas")), created,
		showColumn("SUBSETS", subsetsCell("spec.topology.subsets", "replicas")), wideColumn("SELECTOR", selectorCell),
	},
	kruiseKind(kruise.KindSidecarSet): append([]column{
		showColumn("MATCHED", countCell("status.matchedPods")), showColumn("UPDATED", countCell("status.updatedPods")), showColumn("READY", countCell("status.readyPods")), created,
		partition, paused, wideColumn("SELECTOR", selectorCell),
	}, imagesColumns("spec")...),
	kruiseKind(kruise.KindBroadcastJob): append([]column{
		showColumn("DESIRED", countCell("status.desired")), showColumn("ACTIVE", countCell("status.active")), showColumn("SUCCEEDED", countCell("status.succeeded")),
		showColumn("FAILED", countCell("status.failed")), created, wideColumn("PHASE", fieldCell("status.phase")),
	}, imagesColumns(podSpec)...),
	kruiseKind(kruise.KindAdvancedCronJob): {
		showColumn("SCHEDULE", fieldCell("spec.schedule")), showColumn("TYPE", fieldCell("status.type")), showColumn("LASTSCHEDULETIME", ageCell("status.lastScheduleTime")), created,
		wideColumn("PAUSED", fieldCell("spec.paused")), wideColumn("TIMEZONE", fieldCell("spec.timeZone")), wideColumn("ACTIVE", sizeCell("status.active")),
	},
	kruiseKind(kruise.KindContainerRecreateRequest): {
		showColumn("PHASE", fieldCell("status.phase")), showColumn("POD", fieldCell("spec.podName")), showColumn("NODE", nodeOfRequest), created,
		wideColumn("CONTAINERS", eachCell("spec.containers", "name")),
	},
	kruiseKind(kruise.KindEphemeralJob): {
		showColumn("STATUS", fieldCell("status.phase")), showColumn("MATCH", countCell("status.match")), showColumn("SUCCEED", countCell("status.succeeded")),
		showColumn("FAILED", countCell("status.failed")), showColumn("RUNNING", countCell("status.running")), showColumn("WAITING", countCell("status.waiting")), created,
		wideColumn("SELECTOR", selectorCell),
	},
	kruiseKind(kruise.KindImagePullJob): {
		showColumn("TOTAL", countCell("status.desired")), showColumn("ACTIVE", countCell("status.active")), showColumn("SUCCEED", countCell("status.succeeded")),
		showColumn("FAILED", countCell("status.failed")), created, showColumn("MESSAGE", fieldCell("status.message")), wideColumn("IMAGE", fieldCell("spec.image")),
	},
	kruiseKind(kruise.KindImageListPullJob): {
		showColumn("TOTAL", countCell("status.desired")), showColumn("SUCCEEDED", countCell("status.succeeded")), showColumn("COMPLETED", countCell("status.completed")), created,
		wideColumn("IMAGES", listCell("spec.images")),
	},
	kruiseKind(kruise.KindNodeImage): {
		showColumn("DESIRED", countCell("status.desired")), showColumn("PULLING", countCell("status.pulling")), showColumn("SUCCEED", countCell("status.succeeded")),
		showColumn("FAILED", countCell("status.failed")), created,
	},
	kruiseKind(kruise.KindNodePodProbe):       {showColumn("PODS", sizeCell("spec.podProbes")), showColumn("REPORTED", sizeCell("status.podProbeStatuses")), created},
	kruiseKind(kruise.KindPersistentPodState): {showColumn("TARGET", referenceCell("spec.targetRef")), showColumn("PODS", sizeCell("status.podStates")), created},
	kruiseKind(kruise.KindPodProbeMarker): {
		showColumn("PROBES", eachCell("spec.probes", "name")), showColumn("MATCHED", countCell("status.matchedPods")), created, wideColumn("SELECTOR", selectorCell),
	},
	kruiseKind(kruise.KindResourceDistribution): {
		showColumn("TOTAL", countCell("status.desired")), showColumn("SUCCEED", countCell("status.succeeded")), showColumn("FAILED", countCell("status.failed")), created,
		wideColumn("RESOURCE", distributionCell),
	},
	kruiseKind(kruise.KindWorkloadSpread): {
		showColumn("WORKLOADNAME", fieldCell("spec.targetRef.name")), showColumn("WORKLOADKIND", fieldCell("spec.targetRef.kind")), showColumn("ADAPTIVE", adaptiveCell), created,
		showColumn("SUBSETS", subsetsCell("spec.subsets", "maxReplicas")),
	},
	{Group: kruise.PolicyGroup, Kind: kruise.KindPodUnavailableBudget}: {
		showColumn("ALLOWED", countCell("status.unavailableAllowed")), showColumn("CURRENT", countCell("status.currentAvailable")),
		showColumn("DESIRED", countCell("status.desiredAvailable")), showColumn("TOTAL", countCell("status.totalReplicas")), created,
		wideColumn("TARGET", referenceCell("spec.targetRef")), wideColumn("SELECTOR", selectorCell),
	},
	{Group: release.Group, Kind: "Rollout"}: {
		showColumn("STATUS", fieldCell("status.phase")), showColumn("CANARY_STEP", releaseStep), showColumn("CANARY_STATE", releaseState),
		showColumn("MESSAGE", fieldCell("status.message")), created,
		wideColumn("WORKLOAD", referenceCell("spec.workloadRef", "spec.objectRef.workloadRef")), wideColumn("STRATEGY", releaseStyle),
	},
}

func kruiseKind(name string) schema.GroupKind {
	return schema.GroupKind{Group: kruise.Group, Kind: name}
}

// cell is what a column shows of an object, at a time.
type cell func(o map[string]any, now time.Time) string

// noValue is shown where there is no value.
const noValue = "<none>"

// fieldCell shows the first of some fields that is there: steps with dots between them.
func fieldCell(paths ...string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, path := range paths {
			if v := fieldAt(o, path); v != nil {
				return strings.Join(strings.Fields(fmt.Sprint(v)), " ")
			}
		}
		return noValue
	}
}

// countCell is at, where nothing means 0.
func countCell(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		if v := fieldAt(o, path); v != nil {
			return fmt.Sprint(v)
		}
		return "0"
	}
}

// sizeCell is how many entries a list or a map has.
func sizeCell(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		switch v := fieldAt(o, path).(type) {
		case []any:
			return strconv.Itoa(len(v))
		case map[string]any:
			return strconv.Itoa(len(v))
		}
		return "0"
	}
}

// eachCell shows a field of every entry of a list, with commas between them.
func eachCell(list, path string) cell {
	return func(o map[string]any, _ time.Time) string {
		var out []string
		entries, _ := fieldAt(o, list).([]any)
		for _, e := range entries {
			m, _ := e.(map[string]any)
			if v := fieldAt(m, path); v != nil {
				out = append(out, fmt.Sprint(v))
			}
		}
		if len(out) == 0 {
			return noValue
		}
		return strings.Join(out, ",")
	}
}

// subsetsCell shows the subsets of a list with their pods, and after a slash how many the spec
// sets for them in a field.
func subsetsCell(list, limit string) cell {
	return func(o map[string]any, _ time.Time) string {
		pods := map[string]any{}
		older, _ := fieldAt(o, "status.subsetReplicas").(map[string]any)
		maps.Copy(pods, older)
		statuses, _ := fieldAt(o, "status.subsetStatuses").([]any)
		for _, s := range statuses {
			if m, _ := s.(map[string]any); m["replicas"] != nil {
				pods[fmt.Sprint(m["name"])] = m["replicas"]
			}
		}
		var out []string
		subsets, _ := fieldAt(o, list).([]any)
		for _, s := range subsets {
			m, _ := s.(map[string]any)
			name := fmt.Sprint(m["name"])
			text := name + ":0"
			if n, ok := pods[name]; ok {
				text = fmt.Sprint(name, ":", n)
			}
			if m[limit] != nil {
				text += fmt.Sprint("/", m[limit])
			}
			out = append(out, text)
		}
		if len(out) == 0 {
			return noValue
		}
		return strings.Join(out, ",")
	}
}

// ageCell is how long ago a time was.
func ageCell(path string) cell {
	return func(o map[string]any, now time.Time) string {
		text, _ := fieldAt(o, path).(string)
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return noValue
		}
		return duration.HumanDuration(now.Sub(t))
	}
}

// selectorCell shows the label selector in one line.
func selectorCell(o map[string]any, _ time.Time) string {
	var s metav1.LabelSelector
	given, _ := fieldAt(o, "spec.selector").(map[string]any)
	if given == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(given, &s) != nil {
		return noValue
	}
	return metav1.FormatLabelSelector(&s)
}

// fieldAt is a value below an object, nil where there is none.
func fieldAt(o map[string]any, path string) any {
	var v any = o
	for step := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

// listCell shows the entries of a list.
func listCell(path string) cell {
	return func(o map[string]any, _ time.Time) string {
		entries, _ := fieldAt(o, path).([]any)
		if len(entries) == 0 {
			return noValue
		}
		out := make([]string, len(entries))
		for i, e := range entries {
			out[i] = fmt.Sprint(e)
		}
		return strings.Join(out, ",")
	}
}

// referenceCell shows what the first of some references is to, as kind/name.
func referenceCell(paths ...string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, path := range paths {
			ref, _ := fieldAt(o, path).(map[string]any)
			if name, _ := ref["name"].(string); name != "" {
				return strings.ToLower(fmt.Sprint(ref["kind"])) + "/" + name
			}
		}
		return noValue
	}
}

// nodeOfRequest is the node of a ContainerRecreateRequest: a label holds it.
func nodeOfRequest(o map[string]any, _ time.Time) string {
	labels, _ := fieldAt(o, "metadata.labels").(map[string]any)
	if node, _ := labels[kruise.ContainerRecreateNodeNameLabel].(string); node != "" {
		return node
	}
	return noValue
}

// distributionCell is what a ResourceDistribution copies; its data is shown nowhere.
func distributionCell(o map[string]any, _ time.Time) string {
	r, _ := fieldAt(o, "spec.resource").(map[string]any)
	name := fieldAt(r, "metadata.name")
	if name == nil {
		return noValue
	}
	return strings.ToLower(fmt.Sprint(r["kind"])) + "/" + fmt.Sprint(name)
}

// adaptiveCell tells Adaptive from the other way to schedule, which is left blank.
func adaptiveCell(o map[string]any, _ time.Time) string {
	if t := fieldAt(o, "spec.scheduleStrategy.type"); t == "Adaptive" {
		return "Adaptive"
	}
	return ""
}

// releaseField shows a field of the status that belongs to the Rollout's style: what
// read canaryStatus alone showed for every blue-green release that it was at step 0.
func releaseField(name, without string) cell {
	return func(o map[string]any, _ time.Time) string {
		for _, status := range []string{string(release.Canary), string(release.BlueGreen)} {
			if v := fieldAt(o, "status."+status+"Status."+name); v != nil {
				return fmt.Sprint(v)
			}
		}
		return without
	}
}

var (
	releaseStep  = releaseField("currentStepIndex", "0")
	releaseState = releaseField("currentStepState", noValue)
)

func releaseStyle(o map[string]any, _ time.Time) string {
	if fieldAt(o, "spec.strategy.blueGreen") != nil {
		return "BlueGreen"
	}
	return "Canary"
}
