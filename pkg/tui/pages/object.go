package pages

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// describe is the variant in words; any other is YAML.
const describe = "describe"

// Object is the screen of one object as YAML or in words.
type Object struct {
	Page

	opened screen.Open
	// object is what the page is about: the workload, or one of its pods.
	object cluster.Ref

	// turn is the question that is being answered; answers to others are dropped.
	turn  *turn
	state state
	err   error
	// at is when the text that is seen was asked for, again whether another one is.
	at    time.Time
	again bool
}

// turn is the identity of one question.
type turn struct{ _ byte }

type state uint8

const (
	fresh state = iota
	loading
	there
)

// NewObject is the screen of the object that is opened.
func NewObject(o screen.Open) Object {
	s := Object{opened: o, object: o.Ref}
	if o.Pod != "" {
		s.object = world.PodRef(o.Ref, o.Pod)
	}
	return s
}

// Title is the object and the variant.
func (s Object) Title() string {
	if s.describes() {
		return "describe " + s.object.String()
	}
	return s.object.String() + " as YAML"
}

func (s Object) describes() bool { return s.opened.Text == describe }

// Want is the workload, so that the screen below has it when one goes back.
func (s Object) Want() world.Want { return world.Want{Workload: s.opened.Ref} }

// Selection is the workload, and the pod where it is one's page.
func (s Object) Selection(screen.Env) screen.Selection {
	sel := screen.Selection{Workloads: []cluster.Ref{s.opened.Ref}}
	if s.opened.Pod != "" {
		sel.Pods = []string{s.object.Name}
	}
	return sel
}

// Update is the screen after a message.
func (s Object) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	if p, ok := s.after(msg); ok {
		s.Page = p
		return s, nil
	}
	switch msg := msg.(type) {
	case screen.Changed:
		s.Page = s.Size(env.Width, env.Height-1)
		if s.state == fresh && env.World.Loaded {
			return s.load(env)
		}
	case answer:
		return s.take(msg), nil
	case tea.KeyPressMsg:
		if reload.Is(msg.String()) {
			return s.load(env)
		}
	}
	return s, nil
}

// answer is the text, or why there is none.
type answer struct {
	turn  *turn
	at    time.Time
	lines []draw.Line
	err   error
}

// load asks for the text, away from the screen.
func (s Object) load(env screen.Env) (screen.Screen, screen.After) {
	s.turn, s.again = new(turn), s.state == there
	if s.state == fresh {
		s.state = loading
	}
	a := answer{turn: s.turn, at: env.World.Now}
	return s, screen.Later(func() tea.Msg {
		var text string
		if s.describes() {
			text, a.err = env.Source.Describe(env.Context, s.object)
			a.lines = described(text)
		} else if text, a.err = env.Source.Manifest(env.Context, s.object); a.err == nil {
			a.lines, a.err = manifest(text)
		}
		return a
	})
}

// take puts an answer on the page; where one is stays.
func (s Object) take(a answer) Object {
	if a.turn != s.turn {
		return s
	}
	s.state, s.at, s.again, s.err = there, a.at, false, a.err
	if a.err == nil {
		s.Page = s.Set(a.lines)
	}
	return s
}

var reload = screen.Binding{Keys: []string{"r"}, Does: "reload", Help: "ask for it again"}

// Keys are those of this screen.
func (Object) Keys() []screen.Binding { return append([]screen.Binding{reload}, pageKeys()...) }

// asking reports that what is seen is from for again.
func (s Object) asking() draw.Line {
	if !s.again {
		return draw.Line{}
	}
	return draw.Text(draw.Busy, "  loading again ...")
}

// Draw is a line about the page, and what is seen of it.
func (s Object) Draw(env screen.Env) []draw.Line {
	switch {
	case s.state != there:
		return []draw.Line{{}, draw.Text(draw.Busy, "  loading "+s.Title()+" ...")}
	case s.err != nil:
		lines := draw.Indented(2, draw.Bad, s.err.Error(), env.Width-4)
		return append(append([]draw.Line{{}}, lines...), draw.Text(draw.Faint, "  r asks again").Join(s.asking()))
	}
	head := draw.Text(draw.Header, " "+s.Title()).Add(draw.Faint, "  as of "+s.at.Format("15:04:05")).Join(s.asking())
	return append([]draw.Line{draw.Both(head, s.Place(), env.Width, env.Theme.Symbols.Ellipsis)}, s.Page.Draw(env.Theme)...)
}
