package rules

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// InPlaceRecord is what a pod keeps about its in-place update, in the annotation
// apps.kruise.io/inplace-update-state (docs/kruise/workloads.md#steps-on-the-pod).
type InPlaceRecord struct {
	// Revision is the full name; daemon sets write the hash.
	Revision string `json:"revision"`
	// UpdateTimestamp has whole seconds.
	UpdateTimestamp       time.Time                 `json:"updateTimestamp"`
	LastContainerStatuses map[string]recordedStatus `json:"lastContainerStatuses"`
	UpdateEnvFromMetadata bool                      `json:"updateEnvFromMetadata,omitempty"`
	UpdateResources       bool                      `json:"updateResources,omitempty"`
	UpdateImages          bool                      `json:"updateImages,omitempty"`
	// The next fields are what waits for the batch before it.
	NextContainerImages      map[string]string    `json:"nextContainerImages,omitempty"`
	NextContainerRefMetadata map[string]Metadata  `json:"nextContainerRefMetadata,omitempty"`
	NextContainerResources   map[string]any       `json:"nextContainerResources,omitempty"`
	PreCheckBeforeNext       *InPlaceNextCheck    `json:"preCheckBeforeNext,omitempty"`
	ContainerBatchesRecord   []InPlaceBatchRecord `json:"containerBatchesRecord,omitempty"`
}

// InPlaceNextCheck names the containers that must be ready before the next batch.
type InPlaceNextCheck struct {
	ContainersRequiredReady []string `json:"containersRequiredReady"`
}

// InPlaceBatchRecord is a batch that was begun.
type InPlaceBatchRecord struct {
	Timestamp  time.Time `json:"timestamp"`
	Containers []string  `json:"containers"`
}

type recordedStatus struct {
	ImageID string `json:"imageID"`
}

// InPlaceRecordOf reads the record of a pod; ok is false without one that can be
// read.
func InPlaceRecordOf(p *cluster.Pod) (r InPlaceRecord, ok bool) {
	return r, json.Unmarshal([]byte(p.Annotations[kruise.InPlaceUpdateStateAnnotation]), &r) == nil
}

// Begin notes that containers are updated now: which image ran in those whose
// image changes.
func (r *InPlaceRecord) Begin(p *cluster.Pod, containers []string, images map[string]string, now time.Time) {
	r.ContainerBatchesRecord = append(slices.Clip(r.ContainerBatchesRecord), InPlaceBatchRecord{now.UTC().Truncate(time.Second), append([]string{}, containers...)})
	for i := range p.Containers {
		c := &p.Containers[i]
		if _, changes := images[c.Name]; !changes || !c.Reported {
			continue
		}
		if r.LastContainerStatuses == nil {
			r.LastContainerStatuses = map[string]recordedStatus{}
		}
		if _, known := r.LastContainerStatuses[c.Name]; !known {
			r.LastContainerStatuses[c.Name] = recordedStatus{c.ImageID}
		}
	}
}

// HasNext reports whether containers wait for their turn.
func (r *InPlaceRecord) HasNext() bool {
	return len(r.NextContainerImages)+len(r.NextContainerRefMetadata)+len(r.NextContainerResources) > 0
}

// NextDue reports whether the next batch may begin: the one before it is
// complete, and its containers are ready (docs/kruise/workloads.md#batches-by-launch-priority).
func (r *InPlaceRecord) NextDue(p *cluster.Pod, node NodeReport) bool {
	if !r.HasNext() || !r.batch(p, node).Done() {
		return false
	}
	return r.PreCheckBeforeNext == nil || !slices.ContainsFunc(r.PreCheckBeforeNext.ContainersRequiredReady, func(name string) bool {
		c, ok := p.Container(name)
		return !ok || !c.Ready
	})
}

// InPlaceGrace is a change that is announced only, in the annotation
// apps.kruise.io/inplace-update-grace (docs/kruise/workloads.md#steps-on-the-pod).
type InPlaceGrace struct {
	Revision              string              `json:"revision"`
	ContainerImages       map[string]string   `json:"containerImages,omitempty"`
	ContainerRefMetadata  map[string]Metadata `json:"containerRefMetadata,omitempty"`
	ContainerResources    map[string]any      `json:"containerResources,omitempty"`
	MetaDataPatch         []byte              `json:"metaDataPatch,omitempty"`
	UpdateEnvFromMetadata bool                `json:"updateEnvFromMetadata,omitempty"`
	GraceSeconds          int32               `json:"graceSeconds,omitempty"`
}

// InPlaceGraceOf reads the announced change of a pod; ok is false without one
// that can be read.
func InPlaceGraceOf(p *cluster.Pod) (g InPlaceGrace, ok bool) {
	return g, json.Unmarshal([]byte(p.Annotations[kruise.InPlaceUpdateGraceAnnotation]), &g) == nil
}

// GraceEnds returns when the announced change is due, counted from whole seconds
// (recorded in 075); ok is false when the pod does not say.
func GraceEnds(p *cluster.Pod) (due time.Time, ok bool) {
	g, announced := InPlaceGraceOf(p)
	r, recorded := InPlaceRecordOf(p)
	return r.UpdateTimestamp.Add(seconds(g.GraceSeconds)), announced && recorded
}
