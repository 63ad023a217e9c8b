package demo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Describe is how a workload or a pod stands, in words.
func (c *Cluster) Describe(_ context.Context, ref cluster.Ref) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	if d := c.details[ref]; d != nil {
		describe(&b, d)
		return b.String(), nil
	}
	p := c.find(ref)
	if p == nil {
		return "", missing(ref)
	}
	describePod(&b, p)
	var events []world.Event
	for _, owner := range c.refs {
		for _, e := range c.events[owner] {
			if e.Pod == p.Name && owner.Namespace == p.Namespace {
				events = append(events, e)
			}
		}
	}
	tellEvents(&b, events)
	return b.String(), nil
}

func describe(b *strings.Builder, d *world.Detail) {
	w := d.Snapshot.Workload
	fmt.Fprintf(b, "Name:       %s\nNamespace:  %s\nKind:       %s\nDriver:     %s\n", d.Ref.Name, cmp.Or(d.Ref.Namespace, "<none>"), d.Ref.Kind, d.Driver)
	fmt.Fprintf(b, "Replicas:   %d desired, %d updated, %d total, %d ready\n", d.Pods.Desired, d.Pods.Updated, d.Pods.Total, d.Pods.Ready)
	fmt.Fprintf(b, "Revisions:  %d\nGeneration: %d\nHealth:     %s\nAnswer:     %s\n", len(d.Snapshot.Revisions), w.Generation, d.Health, d.Diagnosis.Answer)
	if len(d.Diagnosis.Causes) > 0 {
		fmt.Fprintln(b, "Blocked by:")
	}
	for _, cause := range d.Diagnosis.Causes {
		fmt.Fprintf(b, "  %s: %s\n", cause.Gate, cause)
	}
	tellEvents(b, d.Events)
}

func describePod(b *strings.Builder, p *cluster.Pod) {
	fmt.Fprintf(b, "Name:           %s\nNamespace:      %s\nNode:           %s\nStart Time:     %s\n", p.Name, p.Namespace, cmp.Or(p.Node, "<none>"), p.Created.Format(time.RFC3339))
	fmt.Fprintf(b, "Status:         %s\nControlled By:  %s/%s\nContainers:\n", p.Phase, p.Owner.Kind, p.Owner.Name)
	for _, c := range p.Containers {
		fmt.Fprintf(b, "  %s:\n    Image:          %s\n    Image ID:       %s\n", c.Name, c.Image, c.ImageID)
		fmt.Fprintf(b, "    State:          %s\n    Ready:          %t\n    Restart Count:  %d\n", cmp.Or(c.Waiting, "Running"), c.Ready, c.Restarts)
	}
	fmt.Fprintln(b, "Conditions:")
	for _, c := range p.Conditions {
		fmt.Fprintf(b, "  %-22s %s\n", c.Type, c.Status)
	}
}

func tellEvents(b *strings.Builder, events []world.Event) {
	if len(events) == 0 {
		fmt.Fprintln(b, "Events:  <none>")
		return
	}
	fmt.Fprintln(b, "Events:")
	for _, e := range events {
		fmt.Fprintf(b, "  %s  %s  %s  %s\n", e.At.Format(time.TimeOnly), e.Reason, e.About, e.Text)
	}
}
