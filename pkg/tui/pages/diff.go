package pages

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Diff is the screen of what two stored templates of a workload differ in.
type Diff struct {
	Page

	screen.Of
	detail *world.Detail
	past   []plan.Revision
	// from and to are the names of the revisions: others come while one looks.
	from, to string
	whole    bool
}

// NewDiff is the screen of the workload that is opened.
func NewDiff(o screen.Open) Diff { return Diff{Of: screen.Of{Ref: o.Ref}} }

// Title is the workload.
func (s Diff) Title() string { return "diff " + s.Ref.String() }

var (
	older = screen.Binding{Keys: []string{"[", "o"}, Does: "older", Help: "what the revision before it changed"}
	newer = screen.Binding{Keys: []string{"]", "O"}, Does: "newer", Help: "what the revision after it changed"}
	wider = screen.Binding{Keys: []string{"{", "b"}, Does: "base", Help: "compare with a revision further back"}
	whole = screen.Binding{Keys: []string{"f"}, Does: "whole", Help: "the whole template, or only what is around a change"}
)

// Keys are those of this screen.
func (Diff) Keys() []screen.Binding {
	return append([]screen.Binding{older, newer, wider, whole}, pageKeys()...)
}

// Orders are its commands.
func (s Diff) Orders() []screen.OrderHelp {
	var numbers []string
	for _, p := range s.past {
		numbers = append(numbers, strconv.FormatInt(p.Number, 10))
	}
	return []screen.OrderHelp{{Name: "revisions", Help: "two revisions by their numbers: FROM TO", Args: numbers}}
}

// Update is the screen after a message.
func (s Diff) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	if p, ok := s.after(msg); ok {
		s.Page = p
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env), nil
	case screen.Order:
		return s.command(msg)
	case tea.KeyPressMsg:
		return s.key(msg.String()), nil
	}
	return s, nil
}

// refresh takes the revisions from the world. At first it is the newest one against
// the one before.
func (s Diff) refresh(env screen.Env) Diff {
	s.Page = s.Size(env.Width, env.Height-above)
	d := env.World.Of(s.Ref)
	if d == nil || d == s.detail {
		return s
	}
	s.detail, s.past = d, plan.History(d.Snapshot)
	if _, _, ok := s.pair(); !ok && len(s.past) > 1 {
		return s.choose(s.present()-1, s.present())
	}
	return s
}

// above is how many lines stand above the page: the two revisions.
const above = 2

// present is the index of the revision that the workload has, and of the second one
// where that is the first.
func (s Diff) present() int {
	i := slices.IndexFunc(s.past, func(p plan.Revision) bool { return p.Present })
	if i < 0 {
		i = len(s.past) - 1
	}
	return max(i, 1)
}

// pair are the indexes of both revisions; false where one is not there any more.
func (s Diff) pair() (from, to int, ok bool) {
	from, to = s.index(s.from), s.index(s.to)
	return from, to, from >= 0 && to >= 0
}

func (s Diff) index(name string) int {
	return slices.IndexFunc(s.past, func(p plan.Revision) bool { return p.Name == name })
}

func (s Diff) key(key string) Diff {
	from, to, ok := s.pair()
	switch {
	case !ok:
		return s
	case older.Is(key) && to > 1:
		return s.choose(to-2, to-1)
	case newer.Is(key) && to < len(s.past)-1:
		return s.choose(to, to+1)
	case wider.Is(key):
		if from--; from < 0 {
			from = to - 1
		}
		return s.choose(max(from, 0), to)
	case whole.Is(key):
		s.whole = !s.whole
		return s.choose(from, to)
	}
	return s
}

// command is revisions FROM TO.
func (s Diff) command(o screen.Order) (screen.Screen, screen.After) {
	if o.Name != "revisions" {
		return s, nil
	}
	if len(o.Args) != 2 {
		return s, screen.Send(screen.Notice{Text: "revisions FROM TO, by their numbers", Bad: true})
	}
	var at [2]int
	for i, arg := range o.Args {
		at[i] = slices.IndexFunc(s.past, func(p plan.Revision) bool { return strconv.FormatInt(p.Number, 10) == arg })
		if at[i] < 0 {
			return s, screen.Send(screen.Notice{Text: "there is no revision " + arg, Bad: true})
		}
	}
	return s.choose(at[0], at[1]), nil
}

// choose compares two revisions; their comparison begins at its first line.
func (s Diff) choose(from, to int) Diff {
	a, b := s.past[from], s.past[to]
	s.from, s.to = a.Name, b.Name
	s.Page = s.Scroll(-s.Len() * 2).Set(s.lines(a, b))
	return s
}

// Draw is which revisions are compared, and what they differ in.
func (s Diff) Draw(env screen.Env) []draw.Line {
	from, to, ok := s.pair()
	if !ok {
		return s.nothing(env)
	}
	return append([]draw.Line{
		draw.Both(s.revision("from", draw.Removed, "-", s.past[from]), s.Place(), env.Width, env.Theme.Symbols.Ellipsis),
		s.revision("to", draw.Added, "+", s.past[to]),
	}, s.Page.Draw(env.Theme)...)
}

func (s Diff) nothing(env screen.Env) []draw.Line {
	name := s.Ref.String()
	text := name + " does not exist; esc goes back"
	switch {
	case len(s.past) > 0:
		text = "only one revision of " + name + " is recorded: there is nothing to compare it with"
	case s.detail != nil:
		text = "no revision of " + name + " is recorded"
	case env.World.Find(s.Ref) != nil || env.World.Unseen != "":
		return env.Waiting("the revisions of " + name)
	}
	return []draw.Line{{}, draw.Text(draw.Faint, "  "+text)}
}

// revision is one side. Pods do not carry a SidecarSet's revision as their own.
func (s Diff) revision(side string, style draw.Style, sign string, p plan.Revision) draw.Line {
	l := draw.Text(style, fmt.Sprintf(" %s %-4s ", sign, side)).
		Add(draw.Strong, fmt.Sprintf("revision %d", p.Number)).
		Add(draw.Faint, "  "+p.Name+"  ")
	if s.Ref.Kind != kruise.KindSidecarSet {
		l = l.Add(draw.Plain, counted.Of(p.Pods, "pod"))
	}
	if p.Present {
		l = l.Add(draw.Good, "  present")
	}
	return l
}
