package cluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PodChange is what one write does to a pod. Its zero value changes nothing.
type PodChange struct {
	// Labels and Annotations are merged; nil removes a key.
	Labels, Annotations map[string]*string
	// AddFinalizers and RemoveFinalizers change the list.
	AddFinalizers, RemoveFinalizers []string
	// Images are new images by container.
	Images map[string]string
	// Resources names containers whose resources become those of the pod's new
	// revision.
	Resources []string
	// Restart are containers that the node restarts although their image
	// stays: their env reads a label or annotation that changed.
	Restart []string
	// Reread are containers whose env reads a label or annotation that goes away.
	// Kruise does not restart them; some nodes do.
	Reread []string
	// Conditions are set by type. Since is filled in by whoever writes.
	Conditions []Condition
}

// With returns the pod as the change leaves it at a time; the pod itself stays
// as it was, and the two share what did not change. Conditions that keep their
// status keep their time.
func (p *Pod) With(c PodChange, now time.Time) *Pod {
	out := *p
	out.Labels = merged(p.Labels, c.Labels)
	out.Annotations = merged(p.Annotations, c.Annotations)
	if len(c.AddFinalizers)+len(c.RemoveFinalizers) > 0 {
		kept := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return slices.Contains(c.RemoveFinalizers, f) })
		out.Finalizers = union(kept, c.AddFinalizers)
	}
	if len(c.Images) > 0 {
		out.Containers = withImages(p.Containers, c.Images)
		out.InitContainers = withImages(p.InitContainers, c.Images)
	}
	for _, set := range c.Conditions {
		out.Conditions = withCondition(out.Conditions, set, now)
	}
	return &out
}

func merged(have map[string]string, change map[string]*string) map[string]string {
	if len(change) == 0 {
		return have
	}
	out := maps.Clone(have)
	if out == nil {
		out = make(map[string]string, len(change))
	}
	for k, v := range change {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = *v
	}
	return out
}

func union(have, add []string) []string {
	for _, f := range add {
		if !slices.Contains(have, f) {
			have = append(have, f)
		}
	}
	return have
}

func withImages(have []Container, images map[string]string) []Container {
	out := slices.Clone(have)
	for i := range out {
		if image, ok := images[out[i].Name]; ok {
			out[i].Image = image
		}
	}
	return out
}

// withCondition sets one condition. Times have whole seconds, as in a cluster.
func withCondition(have []Condition, set Condition, now time.Time) []Condition {
	set.Since = now.Truncate(time.Second)
	i := slices.IndexFunc(have, func(c Condition) bool { return c.Type == set.Type })
	if i < 0 {
		return append(slices.Clip(have), set)
	}
	if have[i].Status == set.Status {
		set.Since = have[i].Since
	}
	out := slices.Clone(have)
	out[i] = set
	return out
}

// SetTo is a condition with a status; reason and message may be empty.
func SetTo(kind string, status corev1.ConditionStatus, reason, message string) Condition {
	return Condition{Type: kind, Status: status, Reason: reason, Message: message}
}
