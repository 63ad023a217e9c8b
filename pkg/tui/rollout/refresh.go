package rollout

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// refresh works out what is drawn, when something has changed.
func (s Screen) refresh(env screen.Env) Screen {
	d := env.World.Of(s.ref)
	if d == nil {
		s.detail = nil
		return s
	}
	width := s.arrange(env).grid.width
	if d != s.detail || s.grid.by != s.by || s.grid.width != width {
		s.detail = d
		s.grid = newGrid(d, s.by, width)
		s.moving = moving(d)
		s.feed = clustered(d.Events)
	}
	if s.grid.find(s.at) == nil && len(s.grid.pods) > 0 {
		s.at = s.first()
	}
	return s
}

// forget takes marks off pods that are gone, and says so: an act would be about more
// than somebody has marked.
func (s Screen) forget() (Screen, screen.After) {
	marked := maps.Clone(s.marked)
	maps.DeleteFunc(marked, func(uid string, _ bool) bool { return s.grid.find(uid) == nil })
	if s.detail == nil || len(marked) == len(s.marked) {
		return s, nil
	}
	text := fmt.Sprintf("marked pods are gone, %d left", len(marked))
	if len(marked) == 0 {
		text = "the marked pods are gone: a restart is now about the pod of the cursor"
	}
	s.marked = marked
	return s, screen.Send(screen.Say{Text: text, Bad: true})
}

// first is the pod to begin with: one that somebody should look at, else the first.
func (s Screen) first() string {
	if len(s.moving) > 0 {
		return s.moving[0].UID
	}
	return s.grid.pods[0].UID
}

// moving are pods that are not ready, those with a trouble first, then those with the
// new template.
func moving(d *world.Detail) []*cluster.Pod {
	var list []*cluster.Pod
	for _, p := range d.Snapshot.Pods {
		if !p.IsReady() || p.Deleting {
			list = append(list, p)
		}
	}
	rank := func(p *cluster.Pod) int {
		if _, ok := diagnose.Troubled(p); ok {
			return 0
		}
		if d.Updated[p.UID] {
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b *cluster.Pod) int { return rank(a) - rank(b) })
	return list
}
