package kube

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// Events begins to watch what the cluster tells of a workload and of what belongs to
// it, and returns how to read it: all events there are now that are about one of the
// names. A cluster that may not be asked tells nothing.
func (c *Cluster) Events() (now func(names map[string]bool) []*corev1.Event, err error) {
	o := c.object()
	s := typed("events", &corev1.Event{}, c.core.CoreV1().Events(o.Namespace), "")
	if o.Namespace == "" {
		s.fields = fields.Set{"involvedObject.kind": o.Kind, "involvedObject.name": o.Name}.String()
	}
	m, err := keep(c, s, itself[*corev1.Event])
	return func(names map[string]bool) []*corev1.Event {
		var out []*corev1.Event
		for _, e := range listed(m) {
			if names[e.InvolvedObject.Name] {
				out = append(out, e)
			}
		}
		return out
	}, err
}
