package rollout

import (
	"fmt"
	"maps"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// refresh works out what is drawn, when something has changed.
func (s Screen) refresh(env screen.Env) Screen {
	d := env.World.Of(s.ref)
	if d == nil {
		s.detail = nil
		return s
	}
	_, width, _ := columns(env)
	if s.panel.shown(env) != overview {
		width = env.Width
	}
	changed := d != s.detail
	s.detail = d
	if changed || s.grid.by != s.by || s.grid.width != width {
		s.grid = newGrid(d, s.by, width)
	}
	if now := (sorting{s.filter, s.order}); changed || now != s.sorted {
		s.table, s.sorted = newPodTable(d, s.filter, s.order), now
	}
	if changed {
		s.feed = clustered(d.Events)
	}
	if _, ok := s.table.place[s.at]; !ok {
		s.at = ""
		if len(s.table.rows) > 0 {
			s.at = s.table.rows[0].pod.UID
		}
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
