package tui

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// offers are the keys that the footer offers now.
type offers struct{ Model }

// hints are what the row of the cursor calls for, how one gets back, the keys of the screen,
// the other acts that the row allows, and then what is minor.
func (m offers) hints() []screen.Binding {
	var list, minor []screen.Binding
	for _, b := range visible(m.top().Keys(), m.options.ReadOnly) {
		if b.Minor {
			minor = append(minor, b)
		} else if b.Does != "" {
			list = append(list, b)
		}
	}
	urgent, other := m.actHints()
	if len(m.stack) > 1 {
		urgent = append(urgent, screen.Binding{Keys: []string{"esc"}, Does: "back"})
	}
	list = append(append(urgent, list...), everywhere.filter)
	list = append(append(list, other...), minor...)
	if c, ok := m.top().(screen.Caller); ok {
		calls := c.Calls()
		rest := slices.DeleteFunc(list, func(b screen.Binding) bool {
			return slices.ContainsFunc(calls, func(c screen.Binding) bool { return c.Keys[0] == b.Keys[0] })
		})
		list = slices.Concat(calls, rest)
	}
	return list
}

// actHints are the acts that apply to what is pointed at: first those that its state calls
// for, then those that are possible.
func (m offers) actHints() (urgent, other []screen.Binding) {
	if m.options.ReadOnly {
		return nil, nil
	}
	rows := rowsOf(m.env.World, m.top().Selection(m.env).Workloads)
	for _, v := range verbs {
		if claims(m.top(), v.Keys[0]) || len(rows) == 0 {
			continue
		}
		b, calls, applies := v.Binding, false, false
		for _, row := range rows {
			word, call, ok := v.applies(row)
			if ok && word != "" {
				b.Does = word
			}
			calls, applies = calls || call, applies || ok
		}
		switch {
		case calls:
			urgent = append(urgent, b)
		case applies:
			other = append(other, b)
		}
	}
	return urgent, other
}

// offered reports whether the footer offers an act for one of its workloads.
func (m offers) offered(a world.Act) bool {
	rows := rowsOf(m.env.World, a.On)
	return slices.ContainsFunc(verbs, func(v verb) bool {
		return v.verb == a.Verb && slices.ContainsFunc(rows, func(w *world.Workload) bool { _, _, ok := v.applies(w); return ok })
	})
}

// refused is why an act is not possible, in a line, and what applies instead, for which there
// is always room.
func (m offers) refused(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	urgent, _ := m.actHints()
	var keys []string
	for _, b := range urgent {
		keys = append(keys, b.Keys[0]+" "+b.Does)
	}
	if len(keys) == 0 {
		return text
	}
	instead := "; try " + strings.Join(keys, ", ")
	return draw.Cut(text, max(m.width-draw.Width(instead)-4, 10), m.env.Theme.Symbols.Ellipsis) + instead
}

// rowsOf are those of workloads; one that is not in the list is taken for one without a rollout.
func rowsOf(w *world.World, refs []cluster.Ref) []*world.Workload {
	var rows []*world.Workload
	for _, ref := range refs {
		row := w.Find(ref)
		if row == nil {
			row = &world.Workload{Ref: ref}
		}
		rows = append(rows, row)
	}
	return rows
}

// applies reports whether an act is possible for a workload, and whether its state calls for
// it; word is what the key does then, "" for its usual name.
func (v verb) applies(w *world.Workload) (word string, calls, ok bool) {
	rolling := w.Steps > 0 // also once it is completed, which a workload at rest shows
	ended := w.Health == world.Blocked || w.Health == world.Aborted
	switch v.verb {
	case world.Promote:
		return "", w.Approval, w.Approval
	case world.PauseResume:
		return string(w.Toggle), w.Toggle != plan.TransitionPause && w.Toggle != "", w.Toggle != ""
	case world.Undo:
		return "", rolling && ended, true
	case world.Abort:
		return "", false, rolling && !slices.Contains([]world.Health{world.Healthy, world.Degraded, world.Aborted}, w.Health)
	}
	return "", false, v.fits(w.Ref)
}

// fields are what some acts set of a workload, which not every kind has.
var fields = map[world.Verb]string{world.Scale: "number of pods of its own", world.Partition: "partition"}

// fits reports whether a kind has the field that an act sets, if it sets one.
func (v verb) fits(ref cluster.Ref) bool {
	switch v.verb {
	case world.Scale:
		return !slices.Contains([]string{kruise.KindDaemonSet, kruise.KindSidecarSet}, ref.Kind)
	case world.Partition:
		return plan.PartitionPath(ref.Group, ref.Kind, "") != nil
	}
	return true
}
