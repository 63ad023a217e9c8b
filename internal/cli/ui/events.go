package ui

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// mostEvents is how many events of a workload are kept, the newest.
const mostEvents = 200

// events are the cluster's as the screens show them, the newest first.
func events(list []*corev1.Event) []world.Event {
	out := make([]world.Event, len(list))
	for i, e := range list {
		out[i] = eventOf(e)
	}
	slices.SortStableFunc(out, func(a, b world.Event) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.About, b.About), strings.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), mostEvents)]
}

// eventOf reads an event of either of the APIs that write them.
func eventOf(e *corev1.Event) world.Event {
	out := world.Event{
		At: e.LastTimestamp.Time, First: e.FirstTimestamp.Time, Count: int(e.Count),
		About:   strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Text: strings.TrimSpace(e.Message),
	}
	if e.InvolvedObject.Kind == "Pod" {
		out.Pod = e.InvolvedObject.Name
	}
	if e.Series != nil {
		out.Count, out.At = int(e.Series.Count), e.Series.LastObservedTime.Time
	}
	if out.At.IsZero() {
		out.At = e.EventTime.Time
	}
	if out.At.IsZero() {
		out.At = e.CreationTimestamp.Time
	}
	if out.First.IsZero() {
		out.First = out.At
	}
	out.Count = max(out.Count, 1)
	return out
}
