package schema

import "strings"

// dotted is a path of the older version.
type dotted string

func (d dotted) steps() []string { return strings.Split(string(d), ".") }

// olderOnly are fields that the older version has and conversion folds into
// others (semantics workloads 0.2, sidecarset-and-protection 4.1, fanout-and-jobs
// 10).
var olderOnly = map[string]map[dotted]*Schema{
	"CloneSet": {
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods": {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds":      {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadParallelism":         {AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	},
	"DaemonSet": {
		"spec.updateStrategy.rollingUpdate.rollingUpdateType": {Type: "string", Enum: []string{"Standard", "InPlaceIfPossible", "Surging"}},
	},
	"SidecarSet": {"spec.namespace": {Type: "string", Description: "Namespace limits the pods to those of one namespace."}},
	"UnitedDeployment": {
		"status.subsetReplicas.{}":                 {Type: "integer", Format: "int32"},
		"status.updateStatus.currentPartitions.{}": {Type: "integer", Format: "int32"},
		"status.updateStatus.updatedRevision":      {Type: "string"},
	},
}
