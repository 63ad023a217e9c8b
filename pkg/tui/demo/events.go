package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// most is how many events of a workload are kept, as clusters forget theirs.
const most = 200

// note adds an event of a workload. The shop is locked.
func (c *Cluster) note(ref cluster.Ref, reason, text string, warning bool) {
	c.tell(ref, world.Event{About: nameOf(ref), Reason: reason, Text: strings.TrimSpace(text), Warning: warning})
}

func (c *Cluster) tell(ref cluster.Ref, e world.Event) {
	e.At, e.First, e.Count = c.world.Now(), c.world.Now(), 1
	list := c.events[ref]
	if i := slices.IndexFunc(list, func(o world.Event) bool { return o.About == e.About && o.Reason == e.Reason && o.Text == e.Text }); i >= 0 {
		e.First, e.Count = list[i].First, list[i].Count+1
		list = slices.Delete(slices.Clone(list), i, i+1)
	}
	c.events[ref] = slices.Insert(list[:min(len(list), most-1):min(len(list), most-1)], 0, e)
}

// compare notes what happened to pods between two looks.
func (c *Cluster) compare(ref cluster.Ref, before, after []*cluster.Pod) {
	old := map[string]*cluster.Pod{}
	for _, p := range before {
		old[p.UID] = p
	}
	for _, p := range after {
		was := old[p.UID]
		delete(old, p.UID)
		if was != p {
			c.changed(ref, was, p)
		}
	}
	for _, p := range before {
		if old[p.UID] != nil {
			c.pod(ref, p, "Gone", "pod is gone", false)
		}
	}
}

func (c *Cluster) changed(ref cluster.Ref, was, p *cluster.Pod) {
	switch {
	case was == nil:
		c.pod(ref, p, "Created", "pod was created", false)
		return
	case p.Deleting && !was.Deleting:
		c.pod(ref, p, "Killing", "pod is being deleted", false)
	case p.IsReady() && !was.IsReady():
		c.pod(ref, p, "Ready", "pod is ready", false)
	}
	for i, b := range p.Containers {
		if i < len(was.Containers) {
			c.container(ref, p, was.Containers[i], b)
		}
	}
}

func (c *Cluster) container(ref cluster.Ref, p *cluster.Pod, was, is cluster.Container) {
	switch {
	case is.Image != was.Image:
		c.pod(ref, p, "InPlaceUpdate", fmt.Sprintf("container %s gets image %s in place", is.Name, is.Image), false)
	case is.Waiting != was.Waiting && is.Waiting != "" && is.Waiting != "ContainerCreating":
		c.pod(ref, p, is.Waiting, fmt.Sprintf("container %s: %s", is.Name, is.Waiting), true)
	case is.Restarts > was.Restarts:
		c.pod(ref, p, "Started", fmt.Sprintf("container %s started again", is.Name), false)
	}
}

func (c *Cluster) pod(ref cluster.Ref, p *cluster.Pod, reason, text string, warning bool) {
	c.tell(ref, world.Event{About: "pod/" + p.Name, Pod: p.Name, Reason: reason, Text: text, Warning: warning})
}

func nameOf(r cluster.Ref) string { return strings.ToLower(r.Kind) + "/" + r.Name }
