package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// InPlacePending says what a pod's in-place update waits for; a pod that was
// never updated in place waits for nothing
// (docs/kruise/workloads.md#when-an-in-place-update-is-complete).
func InPlacePending(p *cluster.Pod, node NodeReport) Pending {
	var out Pending
	if _, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]; grace {
		return append(out, "the grace period before the change is not over")
	}
	record, ok := p.Annotations[kruise.InPlaceUpdateStateAnnotation]
	if !ok {
		return nil
	}
	var r InPlaceRecord
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		return append(out, fmt.Sprintf("its annotation %s cannot be read", kruise.InPlaceUpdateStateAnnotation))
	}
	out.need(!r.HasNext(), "containers of lower launch priority wait for their turn")
	return append(out, r.batch(p, node)...)
}

// batch says what the batches that were begun wait for.
func (r *InPlaceRecord) batch(p *cluster.Pod, node NodeReport) Pending {
	var out Pending
	out.need(!r.UpdateEnvFromMetadata || node.EnvHashes, "the node has not restarted the containers whose env changed")
	out.need(!r.UpdateResources || node.Resources, "the node has not applied the resources")
	if node.PlainHashes {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(r.LastContainerStatuses)) {
		c, ok := p.Container(name)
		running := ok && c.Reported && (c.ImageID != r.LastContainerStatuses[name].ImageID || withTag(c.StatusImage) == withTag(c.Image))
		out.need(running, "container %s does not run %s yet", name, or(c.Image, "its image"))
	}
	return out
}

// withTag appends the tag that an image without tag and digest has.
func withTag(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	if image == "" || strings.ContainsAny(name, ":@") {
		return image
	}
	return image + ":latest"
}
