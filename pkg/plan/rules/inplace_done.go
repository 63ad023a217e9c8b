package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// NodeReport is what the node says of a pod beyond its status.
type NodeReport struct {
	// PlainHashes and EnvHashes are whether those in the annotation of the node
	// agent match the spec, for all containers.
	PlainHashes, EnvHashes bool
	// Resources is whether the status has the spec's resources.
	Resources bool
}

// inPlaceState is the pod's own record of its in-place update.
type inPlaceState struct {
	UpdateTimestamp       time.Time                 `json:"updateTimestamp"`
	LastContainerStatuses map[string]recordedStatus `json:"lastContainerStatuses"`
	UpdateEnvFromMetadata bool                      `json:"updateEnvFromMetadata"`
	UpdateResources       bool                      `json:"updateResources"`
	NextContainerImages   map[string]string         `json:"nextContainerImages"`
	NextMetadata          map[string]any            `json:"nextContainerRefMetadata"`
	NextResources         map[string]any            `json:"nextContainerResources"`
}

type recordedStatus struct {
	ImageID string `json:"imageID"`
}

// InPlacePending says what a pod's in-place update waits for; a pod that was
// never updated in place waits for nothing (semantics workloads 2.4).
func InPlacePending(p *cluster.Pod, node NodeReport) Pending {
	var out Pending
	if _, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]; grace {
		return append(out, "the grace period before the change is not over")
	}
	record, ok := p.Annotations[kruise.InPlaceUpdateStateAnnotation]
	if !ok {
		return nil
	}
	var s inPlaceState
	if err := json.Unmarshal([]byte(record), &s); err != nil {
		return append(out, fmt.Sprintf("its annotation %s cannot be read", kruise.InPlaceUpdateStateAnnotation))
	}
	out.need(len(s.NextContainerImages)+len(s.NextMetadata)+len(s.NextResources) == 0, "containers of lower launch priority wait for their turn")
	out.need(!s.UpdateEnvFromMetadata || node.EnvHashes, "the node has not restarted the containers whose env changed")
	out.need(!s.UpdateResources || node.Resources, "the node has not applied the resources")
	if node.PlainHashes {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.LastContainerStatuses)) {
		c, ok := p.Container(name)
		running := ok && c.Reported && (c.ImageID != s.LastContainerStatuses[name].ImageID || withTag(c.StatusImage) == withTag(c.Image))
		out.need(running, "container %s does not run %s yet", name, or(c.Image, "its image"))
	}
	return out
}

// GraceOver reports whether the announced change is due.
func GraceOver(p *cluster.Pod, now time.Time) bool {
	var grace struct {
		GraceSeconds int32 `json:"graceSeconds"`
	}
	var s inPlaceState
	if json.Unmarshal([]byte(p.Annotations[kruise.InPlaceUpdateGraceAnnotation]), &grace) != nil ||
		json.Unmarshal([]byte(p.Annotations[kruise.InPlaceUpdateStateAnnotation]), &s) != nil {
		return false
	}
	return now.Sub(s.UpdateTimestamp) >= seconds(grace.GraceSeconds)
}

// withTag appends the tag that an image without tag and digest has.
func withTag(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	if image == "" || strings.ContainsAny(name, ":@") {
		return image
	}
	return image + ":latest"
}
