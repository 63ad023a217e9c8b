package rules

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// InPlaceSpec is what an in-place update changes in a pod, beside the labels of
// its revision (docs/kruise/workloads.md#when-a-change-is-possible-in-place and
// docs/kruise/workloads.md#batches-by-launch-priority).
type InPlaceSpec struct {
	// Images are the new images by container.
	Images map[string]string
	// Refs are, by container, changed labels and annotations that its env reads:
	// they are written when the container's turn has come.
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
	s.Rereads = inTemplateOrder(s.Rereads, c.New.Template)
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

// inTemplateOrder keeps each name once.
func inTemplateOrder(names []string, template map[string]any) []string {
	var out []string
	for _, container := range containers(template) {
		if name := text(container, "name"); slices.Contains(names, name) {
			out = append(out, name)
		}
	}
	return out
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
