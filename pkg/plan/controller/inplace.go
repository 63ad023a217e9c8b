package controller

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// inPlaceUpdate is a change of template, ready to be made inside pods.
type inPlaceUpdate struct {
	spec rules.InPlaceSpec
	// revision is how annotations of a pod name the new revision, labels how its
	// labels do: the full name or, for daemon sets, the hash.
	revision string
	labels   map[string]string
	// grace is how many seconds a pod is out of service before its images change.
	grace int32
}

// start returns the change that begins the update of a pod
// (docs/kruise/workloads.md#steps-on-the-pod). The lifecycle state is not part of it.
func (u *inPlaceUpdate) start(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	if u.spec.NotReady {
		condition(&c, p, kruise.InPlaceUpdateReady, corev1.ConditionFalse, startInPlaceUpdate, "")
	}
	for key, value := range u.labels {
		label(&c, key, value)
	}
	record := rules.InPlaceRecord{
		Revision: u.revision, UpdateTimestamp: wholeSeconds(now),
		UpdateImages: len(u.spec.Images) > 0, UpdateEnvFromMetadata: len(u.spec.Refs) > 0, UpdateResources: len(u.spec.Resources) > 0,
	}
	if u.grace > 0 {
		annotateJSON(&c, kruise.InPlaceUpdateGraceAnnotation, u.announced())
	} else {
		apply(&c, &record, u.spec, p, now)
	}
	annotateJSON(&c, kruise.InPlaceUpdateStateAnnotation, record)
	return c
}

// startInPlaceUpdate is the reason of the condition InPlaceUpdateReady.
const startInPlaceUpdate = "StartInPlaceUpdate"

// announced is the change as it waits on the pod for the grace period to end.
func (u *inPlaceUpdate) announced() rules.InPlaceGrace {
	g := rules.InPlaceGrace{
		Revision: u.revision, ContainerImages: u.spec.Images, ContainerRefMetadata: u.spec.Refs, ContainerResources: u.spec.Resources,
		UpdateEnvFromMetadata: len(u.spec.Refs) > 0, GraceSeconds: u.grace,
	}
	if len(u.spec.Metadata.Labels)+len(u.spec.Metadata.Annotations) > 0 {
		g.MetaDataPatch = encoded(map[string]any{"metadata": u.spec.Metadata})
	}
	return g
}

// announcedSpec is the reverse of announced.
func announcedSpec(g rules.InPlaceGrace) rules.InPlaceSpec {
	spec := rules.InPlaceSpec{Images: g.ContainerImages, Refs: g.ContainerRefMetadata, Resources: g.ContainerResources}
	var patch struct{ Metadata rules.Metadata }
	if json.Unmarshal(g.MetaDataPatch, &patch) == nil {
		spec.Metadata = patch.Metadata
	}
	return spec
}

// apply writes what does not have to wait: the metadata and the containers of the
// first batch. The record says what does (docs/kruise/workloads.md#batches-by-launch-priority).
func apply(c *cluster.PodChange, record *rules.InPlaceRecord, spec rules.InPlaceSpec, p *cluster.Pod, now time.Time) {
	merge(c, spec.Metadata)
	batch := firstBatch(spec, p)
	record.NextContainerImages, record.NextContainerRefMetadata, record.NextContainerResources = nil, nil, nil
	record.PreCheckBeforeNext = nil
	for _, name := range slices.Sorted(maps.Keys(spec.Images)) {
		place(&c.Images, &record.NextContainerImages, name, spec.Images[name], batch)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Refs)) {
		var now map[string]rules.Metadata
		place(&now, &record.NextContainerRefMetadata, name, spec.Refs[name], batch)
		merge(c, now[name])
		if _, image := spec.Images[name]; !image && slices.Contains(batch, name) {
			c.Restart = append(c.Restart, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Resources)) {
		var now map[string]any
		place(&now, &record.NextContainerResources, name, spec.Resources[name], batch)
		if len(now) > 0 {
			c.Resources = append(c.Resources, name)
		}
	}
	c.Reread = spec.Rereads
	record.Begin(p, batch, c.Images, now)
	if record.HasNext() {
		record.PreCheckBeforeNext = &rules.InPlaceNextCheck{ContainersRequiredReady: batch}
	}
}

// place puts what a container gets to what is written now, or to what waits.
func place[T any](now, next *map[string]T, name string, value T, batch []string) {
	to := next
	if slices.Contains(batch, name) {
		to = now
	}
	if *to == nil {
		*to = map[string]T{}
	}
	(*to)[name] = value
}

// firstBatch are the containers that change first, by name.
func firstBatch(spec rules.InPlaceSpec, p *cluster.Pod) []string {
	names := make([]string, len(p.Containers))
	for i := range p.Containers {
		names[i] = p.Containers[i].Name
	}
	batches := rules.InPlaceBatches(spec.Affected(names, func(name string) *int {
		c, _ := p.Container(name)
		return c.Priority
	}))
	if len(batches) == 0 {
		return []string{}
	}
	slices.Sort(batches[0])
	return batches[0]
}

// merge writes labels and annotations.
func merge(c *cluster.PodChange, m rules.Metadata) {
	for key, value := range m.Labels {
		if c.Labels == nil {
			c.Labels = map[string]*string{}
		}
		c.Labels[key] = value
	}
	for key, value := range m.Annotations {
		annotate(c, key, value)
	}
}

func annotateJSON(c *cluster.PodChange, key string, value any) {
	annotate(c, key, new(string(encoded(value))))
}

// encoded writes what was made from decoded JSON, texts and times: it can always
// be encoded.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return text
}
