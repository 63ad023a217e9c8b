// Package text is the screen of one object as YAML or in words.
package text

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/page"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// The variants.
const (
	YAML     = "yaml"
	describe = "describe"
)

// Screen is the page.
type Screen struct {
	page.Page

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

// New is the screen of the object that is opened.
func New(o screen.Open) Screen {
	s := Screen{opened: o, object: o.Ref}
	if o.Pod != "" {
		s.object = world.PodRef(o.Ref, o.Pod)
	}
	return s
}

// Title is the object and the variant.
func (s Screen) Title() string {
	if s.describes() {
		return "describe " + s.object.String()
	}
	return s.object.String() + " as YAML"
}

func (s Screen) describes() bool { return s.opened.Text == describe }

// Want is the workload, so that the screen below has it when one goes back.
func (s Screen) Want() world.Want { return world.Want{Workload: s.opened.Ref} }

// Selection is the workload, and the pod where it is one's page.
func (s Screen) Selection(screen.Env) screen.Selection {
	sel := screen.Selection{Workloads: []cluster.Ref{s.opened.Ref}}
	if s.opened.Pod != "" {
		sel.Pods = []string{s.object.Name}
	}
	return sel
}

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		s.Page = s.Size(env.Width, env.Height-1)
		if s.state == fresh && env.World.Loaded {
			return s.load(env)
		}
	case answer:
		return s.take(msg), nil
	case screen.Filter:
		s.Page = s.Find(msg.Text)
	case screen.Wheel:
		s.Page = s.Scroll(msg.By)
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	if again.Is(key) {
		return s.load(env)
	}
	if p, ok := s.Key(key); ok {
		s.Page = p
	}
	return s, nil
}
