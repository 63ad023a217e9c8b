// Package lists is the screens that begin with a list: all workloads, how they are and why; the matrix of SidecarSets and
// workloads; and distributions with their subsets, namespaces or nodes.
package lists

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
)

// list is what they have in common: a row for each object, a filter, and a cursor that stays at its object when rows come
// and go.
type list struct {
	refs   []cluster.Ref // of the rows
	filter string
	window draw.Window
	at     cluster.Ref
}

// sizes are the widths that the longest names need, and how many namespaces there are.
type sizes struct{ namespace, name, namespaces int }

// above is how many lines stand above the rows: the summary and the header.
const above = 2

// Filtered is the filter.
func (l list) Filtered() string { return l.filter }

// with is the list of other rows, so many of which are seen. The cursor stays at its object, or at its line when that has
// gone.
func (l list) with(refs []cluster.Ref, seen int) list {
	l.refs = refs
	if i := slices.Index(refs, l.at); i >= 0 {
		l.window.At = i
	}
	return l.move(l.window.Keep(len(refs), seen))
}

func (l list) move(w draw.Window) list {
	l.window = w
	if w.At < len(l.refs) {
		l.at = l.refs[w.At]
	}
	return l
}

// after is the list after a message. moved is true where that moves the cursor; after another filter, the rows are to be
// worked out again.
func (l list) after(msg tea.Msg, seen int) (next list, moved bool) {
	switch msg := msg.(type) {
	case screen.Filter:
		l.filter = msg.Text
	case tea.KeyPressMsg:
		w, ok := l.window.Key(msg.String(), len(l.refs), seen)
		if ok {
			l = l.move(w)
		}
		return l, ok
	case screen.Wheel:
		return l.move(l.window.Move(msg.By, len(l.refs), seen)), true
	case screen.Click:
		i := l.window.Top + msg.Y - above
		if msg.Y < above || msg.Y >= above+seen || i >= len(l.refs) {
			return l, false
		}
		return l.move(l.window.Move(i-l.window.At, len(l.refs), seen)), true
	}
	return l, false
}

// draw is the summary, and below it the rows that are seen or why there are none.
func (l list) draw(env screen.Env, summary, none draw.Line, columns []draw.Column, seen int, row draw.RowFunc) []draw.Line {
	if len(l.refs) == 0 {
		return []draw.Line{summary, {}, none}
	}
	table := draw.Table{Columns: columns, Rows: len(l.refs), Window: l.window}
	return append([]draw.Line{summary}, table.Draw(env.Theme, env.Width, seen+1, row)...)
}
