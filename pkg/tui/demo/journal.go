package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// journal has the events of workloads and their pods, the newest first. It is used while the
// shop is locked.
type journal struct {
	world  *simulate.World
	events map[cluster.Ref][]world.Event
}

// most is how many events of a workload are kept, as clusters forget theirs.
const most = 200

// note adds an event of a workload.
func (j *journal) note(ref cluster.Ref, reason, text string, warning bool) {
	j.add(ref, world.Event{About: ref.String(), Reason: reason, Text: strings.TrimSpace(text), Warning: warning})
}

// add adds an event, or counts one more of the same.
func (j *journal) add(ref cluster.Ref, e world.Event) {
	now := j.world.Now()
	e.At, e.First, e.Count = now, now, 1
	list := j.events[ref]
	if i := slices.IndexFunc(list, func(o world.Event) bool { return o.About == e.About && o.Reason == e.Reason && o.Text == e.Text }); i >= 0 {
		e.First, e.Count = list[i].First, list[i].Count+1
		list = slices.Delete(slices.Clone(list), i, i+1)
	}
	j.events[ref] = slices.Insert(list[:min(len(list), most-1):min(len(list), most-1)], 0, e)
}

// compare notes what happened to pods between two observations.
func (j *journal) compare(ref cluster.Ref, before, after []*cluster.Pod) {
	old := map[string]*cluster.Pod{}
	for _, p := range before {
		old[p.UID] = p
	}
	for _, p := range after {
		was := old[p.UID]
		delete(old, p.UID)
		if was != p {
			j.podChanged(ref, was, p)
		}
	}
	for _, p := range before {
		if old[p.UID] != nil {
			j.ofPod(ref, p, "Gone", "pod is gone", false)
		}
	}
}

func (j *journal) podChanged(ref cluster.Ref, was, p *cluster.Pod) {
	switch {
	case was == nil:
		j.ofPod(ref, p, "Created", "pod was created", false)
		return
	case p.Deleting && !was.Deleting:
		j.ofPod(ref, p, "Killing", "pod is being deleted", false)
	case p.IsReady() && !was.IsReady():
		j.ofPod(ref, p, "Ready", "pod is ready", false)
	}
	for i, b := range p.Containers {
		if i < len(was.Containers) {
			j.containerChanged(ref, p, was.Containers[i], b)
		}
	}
}

func (j *journal) containerChanged(ref cluster.Ref, p *cluster.Pod, was, is cluster.Container) {
	switch {
	case is.Image != was.Image:
		j.ofPod(ref, p, "InPlaceUpdate", fmt.Sprintf("container %s gets image %s in place", is.Name, is.Image), false)
	case is.Waiting != was.Waiting && is.Waiting != "" && is.Waiting != "ContainerCreating":
		j.ofPod(ref, p, is.Waiting, fmt.Sprintf("container %s: %s", is.Name, is.Waiting), true)
	case is.Restarts > was.Restarts:
		j.ofPod(ref, p, "Started", fmt.Sprintf("container %s started again", is.Name), false)
	}
}

func (j *journal) ofPod(ref cluster.Ref, p *cluster.Pod, reason, text string, warning bool) {
	j.add(ref, world.Event{About: "pod/" + p.Name, Pod: p.Name, Reason: reason, Text: text, Warning: warning})
}
