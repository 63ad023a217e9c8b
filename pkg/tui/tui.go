// Package tui is the terminal interface: a model that messages change and a view that
// is drawn from it. It knows no client, no file and no clock: the cluster comes
// through [world.Source], what changes it goes through [world.Actions], and times
// come with the world. Each screen is a package of its own; here is what is around
// them.
package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/lists"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pages"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/pod"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Options say what is shown, and how.
type Options struct {
	Source world.Source
	// Actions change the cluster; nil is ReadOnly.
	Actions  world.Actions
	ReadOnly bool
	// Theme is how the terminal is; what the terminal itself says overrides it unless
	// Fixed.
	Theme draw.ThemeOptions
	Fixed bool
	// Ground indicates that Theme knows whether the background is light, whatever the terminal
	// answers.
	Ground bool
	// Notify reports a failure, and a rollout that waits for approval, to a person.
	Notify Notify
	// Contexts are the names that :ctx goes to; none leaves the command out.
	Contexts []string
	// Connection completes the commands of a text; nil leaves them as they are.
	Connection screen.Connection
	// After sends a message after a time; nil is the clock of the program.
	After func(time.Duration, tea.Msg) tea.Cmd
	// First is a screen that opens on top of the list; its zero value is none.
	First screen.Open
}

// Model is the state of the interface.
type Model struct {
	options Options
	ctx     context.Context
	feed    feed
	env     screen.Env
	// stack are the screens from the first to the one that is seen.
	stack []screen.Screen
	over  overlay
	// notice is shown instead of the keys until the next one is pressed, or for a
	// while; lastNotice is the one that was shown before, and since when.
	notice     screen.Notice
	lastNotice shownNotice
	// copies is what was copied by the key before this one; "" for nothing.
	copies string
	// asks counts the dialogs that there have been, evidence is what the last one shows of pods.
	asks     int
	evidence evidence
	works    works
	// going is the number of the last move to another namespace, stop ends it.
	going   int
	stop    context.CancelFunc
	ticking bool
	click   *click
	err     error
	// next is [Model.Next].
	next string

	width, height int
}

// New is the interface before anything is known; the context ends all that it asks.
func New(ctx context.Context, o Options) Model {
	o.ReadOnly = o.ReadOnly || o.Actions == nil
	if o.After == nil {
		o.After = after
	}
	m := Model{options: o, ctx: ctx, width: 80, height: 24}
	m.env = screen.Env{
		Context: ctx, World: &world.World{Loading: "the cluster"}, Theme: draw.NewTheme(o.Theme), Source: o.Source, Connection: o.Connection,
	}
	m.stack = []screen.Screen{routes[0].make(screen.Open{Screen: screen.Workloads})}
	if r, ok := route(o.First.Screen); ok && o.First.Screen != screen.Workloads {
		m.stack = append(m.stack, r.make(o.First))
	}
	m.feed = feed{want: m.top().Want()}
	return m.sized()
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// Err is why the interface ended by itself, nil if the user left it.
func (m Model) Err() error { return m.err }

// Init asks for the world and for the terminal's colours.
func (m Model) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg { return start{} }, tea.RequestBackgroundColor)
}

type start struct{}

func (m Model) top() screen.Screen { return m.stack[len(m.stack)-1] }

// sized gives the screens what header and footer leave.
func (m Model) sized() Model {
	m.env.Width = m.width
	m.env.Height = max(m.height-m.around(), 1)
	return m
}

// around is how many lines header and footer take.
func (m Model) around() int {
	if m.height >= roomy {
		return 4
	}
	return 2
}

// roomy is from how many lines on there is room for rules between the parts.
const roomy = 22

// destination is a screen that can be opened.
type destination struct {
	name string
	// help is for the command line, for those that need no more than a name; key
	// opens it from anywhere.
	help, key string
	// alone takes the place of all that is open.
	alone bool
	make  func(screen.Open) screen.Screen
}

// routes are all screens; the first is where one begins.
var routes = []destination{
	{screen.Workloads, "all workloads", "1", true, func(screen.Open) screen.Screen { return lists.NewWorkloads() }},
	{screen.Sidecars, "SidecarSets against workloads: who has which, and why not", "2", true, func(o screen.Open) screen.Screen { return lists.NewSidecars(o) }},
	{screen.Distributions, "subsets, namespaces and nodes against what they should have", "3", true, func(o screen.Open) screen.Screen { return lists.NewDistributions(o) }},
	{screen.Rollout, "a workload: steps, pods, what it waits for", "", false, func(o screen.Open) screen.Screen { return rollout.New(o) }},
	{screen.Plan, "a workload's plan, and a simulation of it to play", "", false, func(o screen.Open) screen.Screen { return plan.New(o) }},
	{screen.Pod, "", "", false, func(o screen.Open) screen.Screen { return pod.New(o) }},
	{screen.Diff, "what the revisions of a workload differ in", "", false, func(o screen.Open) screen.Screen { return pages.NewDiff(o) }},
	{screen.Logs, "", "", false, func(o screen.Open) screen.Screen { return pages.NewLog(o) }},
	{screen.Text, "", "", false, func(o screen.Open) screen.Screen { return pages.NewObject(o) }},
}

func route(name string) (destination, bool) {
	for _, r := range routes {
		if r.name == name {
			return r, true
		}
	}
	return destination{}, false
}
