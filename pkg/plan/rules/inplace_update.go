package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// InPlaceSpec is what an in-place update changes in a pod, beside the labels of
// its revision (docs/kruise/workloads.md#when-a-change-is-possible-in-place and
// docs/kruise/workloads.md#batches-by-launch-priority).
type InPlaceSpec struct {
	// Images are the new images by container.
	Images map[string]string
	// Refs are, by container, changed labels and annotations that its env reads:
	// they are written when the container is due.
	Refs map[string]Metadata
	// Rereads are the containers whose env reads a label or annotation that goes
	// away.
	Rereads []string
	// Resources are the new resources by container, as decoded JSON.
	Resources map[string]any
	// Metadata is merged at once and restarts nothing.
	Metadata Metadata
	// NotReady is whether the pod leaves its Services meanwhile: always but for
	// resources that change without a restart.
	NotReady bool
}

// Metadata are labels and annotations to merge; nil removes a key.
type Metadata struct {
	Labels      map[string]*string `json:"labels,omitempty"`
	Annotations map[string]*string `json:"annotations,omitempty"`
}

// InPlaceSpec returns what to write for a change that [TemplateChange.Eligible]
// lets happen in place.
func (c TemplateChange) InPlaceSpec() InPlaceSpec {
	s := InPlaceSpec{Images: map[string]string{}, Refs: map[string]Metadata{}, Resources: map[string]any{}}
	resized := false
	for _, d := range tree.Differences(nil, withMetadata(c.Old.Template), withMetadata(c.New.Template)) {
		switch {
		case d.Path[0] == "metadata" && len(d.Path) == 3:
			s.metadata(c, d)
		case inContainer(d.Path, "image"):
			s.Images[containerName(c.New.Template, d.Path[2])], _ = d.New.(string)
		case isResource(d.Path):
			s.Resources[containerName(c.New.Template, d.Path[2])] = containerAt(c.New.Template, d.Path[2])["resources"]
			resized = resized || len(c.restartForResize(d.Path)) > 0
		}
	}
	// Keep each name once.
	var out []string
	for _, container := range containers(c.New.Template) {
		if name := text(container, "name"); slices.Contains(s.Rereads, name) {
			out = append(out, name)
		}
	}
	s.Rereads = out
	s.NotReady = len(s.Resources) == 0 || resized || len(s.Images)+len(s.Refs)+len(s.Metadata.Labels)+len(s.Metadata.Annotations) > 0
	return s
}

// metadata sorts one changed key: to the containers that read it, else to what is
// merged at once.
func (s *InPlaceSpec) metadata(c TemplateChange, d tree.Difference) {
	var f FieldChange
	c.classifyMetadata(&f, d)
	value, set := d.New.(string)
	add := func(to *Metadata) {
		into := &to.Labels
		if d.Path[1] == "annotations" {
			into = &to.Annotations
		}
		if *into == nil {
			*into = map[string]*string{}
		}
		(*into)[d.Path[2]] = nil
		if set {
			(*into)[d.Path[2]] = &value
		}
	}
	if d.New == nil && c.Gates.InPlaceUpdateEnvFromMetadata {
		s.Rereads = append(s.Rereads, envReaders(c.New.Template, fieldPath(d))...)
	}
	for _, name := range f.Restarts {
		to := s.Refs[name]
		add(&to)
		s.Refs[name] = to
	}
	if len(f.Restarts) == 0 {
		add(&s.Metadata)
	}
}

// Affected returns the containers that the update changes, in the order of the
// template; priorities are theirs in the pod.
func (s InPlaceSpec) Affected(containers []string, priority func(string) *int) []Affected {
	var out []Affected
	for _, name := range containers {
		_, image := s.Images[name]
		ref, env := s.Refs[name]
		_, resources := s.Resources[name]
		if image || env || resources {
			out = append(out, Affected{Name: name, Priority: priority(name), Keys: ref.keys()})
		}
	}
	return out
}

// keys names each label and annotation apart.
func (m Metadata) keys() []string {
	var out []string
	for key := range m.Labels {
		out = append(out, "labels/"+key)
	}
	for key := range m.Annotations {
		out = append(out, "annotations/"+key)
	}
	slices.Sort(out)
	return out
}

// Affected is one container that an in-place update changes.
type Affected struct {
	Name string
	// Priority is its launch priority; nil without one.
	Priority *int
	// Keys are the changed labels and annotations that its env reads.
	Keys []string
}

// InPlaceBatches cuts the containers of one in-place update by their launch
// priority: first those without any and those of the highest, with the containers that read
// the same changed key; when a batch is complete and ready, the rest is asked
// again (docs/kruise/workloads.md#batches-by-launch-priority).
func InPlaceBatches(all []Affected) [][]string {
	var out [][]string
	for len(all) > 0 {
		var highest *int
		for _, a := range all {
			if a.Priority != nil && (highest == nil || *a.Priority > *highest) {
				highest = a.Priority
			}
		}
		first := make([]bool, len(all))
		for i, a := range all {
			first[i] = a.Priority == nil || *a.Priority == *highest
		}
		for grown := true; grown; {
			grown = false
			for i, a := range all {
				if !first[i] && sharesKey(a, all, first) {
					first[i], grown = true, true
				}
			}
		}
		var names []string
		var rest []Affected
		for i, a := range all {
			if first[i] {
				names = append(names, a.Name)
			} else {
				rest = append(rest, a)
			}
		}
		out, all = append(out, names), rest
	}
	return out
}

func sharesKey(a Affected, all []Affected, in []bool) bool {
	for i, other := range all {
		if in[i] && slices.ContainsFunc(a.Keys, func(k string) bool { return slices.Contains(other.Keys, k) }) {
			return true
		}
	}
	return false
}

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

// GraceEnds returns when the announced change is due, counted from whole seconds (recorded in
// 075); ok is false when the pod has no such announcement.
func GraceEnds(p *cluster.Pod) (due time.Time, ok bool) {
	g, announced := InPlaceGraceOf(p)
	r, recorded := InPlaceRecordOf(p)
	return r.UpdateTimestamp.Add(seconds(g.GraceSeconds)), announced && recorded
}

// NodeReport is what the node reports about a pod beyond its status.
type NodeReport struct {
	// PlainHashes and EnvHashes are whether those in the annotation of the node
	// agent match the spec, for all containers.
	PlainHashes, EnvHashes bool
	// Resources is whether the status has the spec's resources.
	Resources bool
}

// InPlacePending reports what a pod's in-place update waits for; a pod that was
// never updated in place waits for nothing
// (docs/kruise/workloads.md#when-an-in-place-update-is-complete).
func InPlacePending(p *cluster.Pod, node NodeReport) Pending {
	if _, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]; grace {
		return Pending{"the grace period before the change is not over"}
	}
	record, ok := p.Annotations[kruise.InPlaceUpdateStateAnnotation]
	if !ok {
		return nil
	}
	var r InPlaceRecord
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		return Pending{fmt.Sprintf("its annotation %s cannot be read", kruise.InPlaceUpdateStateAnnotation)}
	}
	return append(need(!r.HasNext(), "containers of lower launch priority wait for their turn"), r.batch(p, node)...)
}

// batch reports what the started batches wait for.
func (r *InPlaceRecord) batch(p *cluster.Pod, node NodeReport) Pending {
	out := append(need(!r.UpdateEnvFromMetadata || node.EnvHashes, "the node has not restarted the containers whose env changed"),
		need(!r.UpdateResources || node.Resources, "the node has not applied the resources")...)
	if node.PlainHashes {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(r.LastContainerStatuses)) {
		c, ok := p.Container(name)
		running := ok && c.Reported && (c.ImageID != r.LastContainerStatuses[name].ImageID || withTag(c.StatusImage) == withTag(c.Image))
		out = append(out, need(running, "container %s does not run %s yet", name, cmp.Or(c.Image, "its image"))...)
	}
	return out
}

// FailedBefore reports whether what a container fails with is from before the update in place that its pod is in: the
// update has not reached the container, or the node has not started the new image yet. image is the one that fails.
func FailedBefore(p *cluster.Pod, c *cluster.Container) (image string, before bool) {
	if p.Annotations[kruise.InPlaceUpdateStateAnnotation] == "" && p.Annotations[kruise.InPlaceUpdateGraceAnnotation] == "" {
		return c.Image, false // of most pods, without a look at JSON
	}
	if g, announced := InPlaceGraceOf(p); announced && g.ContainerImages[c.Name] != "" {
		return c.Image, true
	}
	r, recorded := InPlaceRecordOf(p)
	if !recorded {
		return c.Image, false
	}
	if r.NextContainerImages[c.Name] != "" {
		return c.Image, true
	}
	last, changed := r.LastContainerStatuses[c.Name]
	if !changed || !c.Reported || c.ImageID != last.ImageID || withTag(c.StatusImage) == withTag(c.Image) {
		return c.Image, false
	}
	// A failed pull of the new image leaves what ran before in the status; only the message tells which is meant.
	if c.Waiting == "CrashLoopBackOff" || namesImage(c.Message, c.StatusImage) && !namesImage(c.Message, c.Image) {
		return c.StatusImage, true
	}
	return c.Image, false
}

// namesImage reports whether the message of a node quotes an image.
func namesImage(message, image string) bool {
	return image != "" && strings.Contains(message, `"`+image+`"`)
}

// withTag appends the tag that an image without tag and digest has.
func withTag(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	if image == "" || strings.ContainsAny(name, ":@") {
		return image
	}
	return image + ":latest"
}
