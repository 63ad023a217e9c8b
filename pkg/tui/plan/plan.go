// Package plan is the screen of a plan: its steps with what they send and which pods
// they touch, and a simulation of it from now on, which can be played, paused and
// scrubbed. Nothing of it reaches the cluster.
package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	core "github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is the plan of one workload.
type Screen struct {
	screen.Of
	// given is a plan that has not begun, nil for the one that the workload is at.
	given  *core.Plan
	detail *world.Detail

	// run is the last simulation, nil before the first; simulating is the one that is being
	// worked out, nil for none.
	run        *run
	simulating *request
	player

	panel panel
	// steps is where the cursor is; with follow it is at the step of the simulation, until the user moves it.
	steps  draw.Window
	follow bool
	// find is what is searched for: events that have it are shown, and the first step.
	find string
}

// New is the screen of the workload that is opened.
func New(o screen.Open) Screen {
	return Screen{Of: screen.Of{Ref: o.Ref}, given: o.Plan, player: player{speed: 1}, follow: true}
}

// Title is its breadcrumb.
func (s Screen) Title() string { return "plan of " + s.Ref.String() }

// Filtered is what is searched for.
func (s Screen) Filtered() string { return s.find }

// search shows the events that have a text, and goes to the first step that has it.
func (s Screen) search(text string) Screen {
	s.find = text
	if text == "" || s.run == nil {
		return s
	}
	for i, step := range s.run.plan.Steps {
		if s.has(step.Name + " " + step.Title) {
			return s.point(i)
		}
	}
	return s
}

func (s Screen) has(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(s.find))
}

// Update is the screen after a message.
func (s Screen) Update(env screen.Env, msg tea.Msg) (screen.Screen, screen.After) {
	switch msg := msg.(type) {
	case screen.Changed:
		return s.refresh(env)
	case prediction:
		return s.arrive(msg), nil
	case frame:
		return s.next(msg)
	case screen.Filter:
		return s.search(msg.Text), nil
	case screen.Order: // speed
		if i := slices.Index(speedNames, strings.Join(msg.Args, " ")); i >= 0 {
			s.speed = 1 << i
		}
		return s, nil
	case screen.Wheel:
		return s.point(s.steps.At + msg.By), nil
	case tea.KeyPressMsg:
		return s.key(env, msg.String())
	}
	return s, nil
}

// mostChanges is after how many changes of the world without a frame there will be none:
// a screen that was hidden has missed it.
const mostChanges = 3

// refresh takes the workload over and, the first time, asks for a simulation.
func (s Screen) refresh(env screen.Env) (screen.Screen, screen.After) {
	s.detail = env.World.Of(s.Ref)
	if s.run == nil && s.simulating == nil && s.detail != nil {
		return s.simulate()
	}
	if s.changes++; !s.playing || s.changes <= mostChanges {
		return s, nil
	}
	s, cmd := s.resume()
	return s, cmd
}

func (s Screen) simulate() (Screen, screen.After) {
	if s.detail == nil || s.simulating != nil {
		return s, nil
	}
	s.simulating = new(request)
	return s, predict(s.simulating, s.detail, s.given)
}

// arrive starts again with another simulation.
func (s Screen) arrive(p prediction) Screen {
	if p.request != s.simulating {
		return s
	}
	s.run, s.simulating, s.follow = p.run, nil, true
	s.player = player{speed: speedFor(p.run.duration()), frame: s.frame}
	return s.cursor()
}

func (s Screen) key(env screen.Env, key string) (screen.Screen, screen.After) {
	switch {
	case rerun.Is(key):
		return s.simulate()
	case nextPanel.Is(key):
		return s.withNextPanel(env), nil
	case up.Is(key):
		return s.point(s.steps.At - 1), nil
	case down.Is(key):
		return s.point(s.steps.At + 1), nil
	case s.run == nil:
		return s, nil
	case play.Is(key):
		return s.toggle()
	}
	s.player = s.scrub(s.run, key)
	return s.cursor(), nil
}

// point moves the cursor over the steps.
func (s Screen) point(to int) Screen {
	if s.run == nil {
		return s
	}
	s.follow = false
	s.steps = draw.Window{At: to}.Keep(len(s.run.plan.Steps), len(s.run.plan.Steps))
	return s
}

// cursor has the cursor follow the simulation.
func (s Screen) cursor() Screen {
	if s.follow && s.run != nil {
		s.steps.At = max(s.run.stepAt(s.at), 0)
	}
	return s
}

func (s Screen) toggle() (screen.Screen, screen.After) {
	s.playing, s.follow = !s.playing, true
	if s.playing && s.at >= s.run.duration() {
		s.at = 0
	}
	s, cmd := s.resume()
	return s.cursor(), cmd
}

// resume has the next frame come; frames that were asked for before do not count.
func (s Screen) resume() (Screen, screen.After) {
	of := new(request)
	s.frame, s.changes = of, 0
	if !s.playing {
		return s, nil
	}
	return s, screen.Later(tea.Tick(frameDuration, func(time.Time) tea.Msg { return frame{of} }))
}

// next advances by a frame.
func (s Screen) next(f frame) (screen.Screen, screen.After) {
	if f.of != s.frame || !s.playing || s.run == nil {
		return s, nil
	}
	// One frame later; at the end it stops.
	s.at += frameDuration * time.Duration(s.speed)
	if s.at >= s.run.duration() {
		s.at, s.playing = s.run.duration(), false
	}
	s, cmd := s.cursor().resume()
	return s, cmd
}

var (
	play      = screen.Binding{Keys: []string{"space"}, Does: "play", Help: "play the simulation, or hold it"}
	back      = screen.Binding{Keys: []string{"left", "h"}, Does: "scrub", Help: "back in time"}
	ahead     = screen.Binding{Keys: []string{"right", "L"}, Help: "ahead in time"}
	before    = screen.Binding{Keys: []string{"["}, Help: "to where the step began, or the one before"}
	after     = screen.Binding{Keys: []string{"]"}, Does: "step", Help: "to the start of the next step"}
	faster    = screen.Binding{Keys: []string{"+", "="}, Does: "speed", Help: "twice as fast"}
	slower    = screen.Binding{Keys: []string{"-"}, Help: "half as fast"}
	first     = screen.Binding{Keys: []string{"home", "g"}, Help: "to the beginning"}
	last      = screen.Binding{Keys: []string{"end", "G"}, Help: "to the end"}
	up        = screen.Binding{Keys: []string{"up", "k"}, Help: "the step before: what it sends, its pods"}
	down      = screen.Binding{Keys: []string{"down", "j"}, Help: "the next step"}
	nextPanel = screen.Binding{Keys: []string{"tab"}, Does: "more", Help: "where not all fits: steps, what a step does, what happens"}
	rerun     = screen.Binding{Keys: []string{"r"}, Does: "again", Help: "simulate again from the present state of the cluster", Minor: true}
)

// Keys are those of this screen.
func (Screen) Keys() []screen.Binding {
	return []screen.Binding{play, back, after, faster, nextPanel, rerun, ahead, before, slower, first, last, up, down}
}

// Orders are its commands.
func (Screen) Orders() []screen.OrderHelp {
	return []screen.OrderHelp{{Name: "speed", Help: "how many seconds of the simulation a second shows", Args: speedNames}}
}

// speedNames are the speeds, each twice the one before.
var speedNames = func() []string {
	var list []string
	for n := 1; n <= fastest; n *= 2 {
		list = append(list, strconv.Itoa(n))
	}
	return list
}()
