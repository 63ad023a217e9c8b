package schema

import (
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// dotted is a path of the older version.
type dotted string

func (d dotted) steps() []string { return strings.Split(string(d), ".") }

// olderOnly are fields that the older version has and conversion folds into
// others (docs/kruise/workloads.md#cloneset-in-two-versions,
// docs/kruise/sidecarset.md#v1alpha1-and-v1beta1, docs/kruise/distribution.md#in-two-versions).
var olderOnly = map[string]map[dotted]*Schema{
	kruise.KindCloneSet: {
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods": {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds":      {Type: "integer", Format: "int32"},
		"spec.updateStrategy.inPlaceUpdateStrategy.imagePreDownloadParallelism":         {AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	},
	kruise.KindDaemonSet: {
		"spec.updateStrategy.rollingUpdate.rollingUpdateType": {Type: "string", Enum: []string{"Standard", "InPlaceIfPossible", "Surging"}},
	},
	kruise.KindSidecarSet: {"spec.namespace": {Type: "string", Description: "Namespace limits the pods to those of one namespace."}},
	kruise.KindUnitedDeployment: {
		"status.subsetReplicas.{}":                 {Type: "integer", Format: "int32"},
		"status.updateStatus.currentPartitions.{}": {Type: "integer", Format: "int32"},
		"status.updateStatus.updatedRevision":      {Type: "string"},
	},
}
