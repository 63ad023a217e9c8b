// Package screen is what the screens of the terminal interface have in common: what
// they are asked, what they may ask for, what they know, and their words and pictures of the
// world. Each screen is a package
// of its own that knows no other screen; they open each other by name.
package screen

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is one screen: a value that messages change and that can be drawn.
type Screen interface {
	// Title is its breadcrumb.
	Title() string
	// Want is what it shows besides the list of workloads.
	Want() world.Want
	// Update is the screen after a message, and what should happen besides. Messages
	// are keys that the interface has not taken (tea.KeyPressMsg), [Changed], [Filter],
	// [Click], [Wheel] and whatever the screen's own commands return.
	Update(env Env, msg tea.Msg) (Screen, After)
	// Draw returns at most env.Height lines. It is called for every frame: what takes
	// long is worked out in Update.
	Draw(env Env) []draw.Line
	// Keys are those of the screen alone, the most useful first.
	Keys() []Binding
	// Selection is what acts are about.
	Selection(env Env) Selection
}

// Filterable is a screen that can be filtered.
type Filterable interface {
	// Filtered is the present filter, empty for none.
	Filtered() string
}

// Copyable is a screen of a text that can be copied as a whole.
type Copyable interface {
	// Copied is the text, without what would do something to a terminal.
	Copied() string
}

// Ordered is a screen with commands of its own for the command line.
type Ordered interface {
	// Orders are the commands; they arrive as [Order].
	Orders() []OrderHelp
}

// Closing is a screen with something that ends with it, such as a log that is followed.
type Closing interface {
	// Close is called when the screen is left for good.
	Close()
}

// Env is what a screen may know when it is asked something.
type Env struct {
	// Context ends with the interface.
	Context context.Context
	// World is never nil.
	World *world.World
	Theme *draw.Theme
	// Source answers what is too large for the world, from a command.
	Source world.Source
	// Connection completes the commands of a text; nil leaves them as they are.
	Connection Connection
	// Width and Height are the room of the screen itself.
	Width, Height int
	// Beat counts pictures of what is waited for.
	Beat int
}

// Connection adds its flags to the commands of a text, so that they can be copied.
type Connection interface{ Copyable(text string) string }

// Hint is a hint whose commands have the flags of the connection.
func (e Env) Hint(text string) string {
	if e.Connection == nil {
		return text
	}
	return e.Connection.Copyable(text)
}

// Selection is what the user points at.
type Selection struct {
	Workloads []cluster.Ref
	// Pods are of the first workload, Containers of the first pod; none are all.
	Pods, Containers []string
}

// Of is what screens about one workload have in common.
type Of struct{ Ref cluster.Ref }

// Want is the workload with its pods and revisions.
func (o Of) Want() world.Want { return world.Want{Workload: o.Ref} }

// Selection is the workload.
func (o Of) Selection(Env) Selection { return Selection{Workloads: []cluster.Ref{o.Ref}} }

// Binding is a key, or several that do the same.
type Binding struct {
	Keys []string
	// Does is a word or two for the last line, Help the rest for the page of help.
	Does, Help string
	// Changes is for what changes the cluster.
	Changes bool
	// Minor is shown after the actions in the last line.
	Minor bool
}

// Caller is a screen whose state calls for keys of its own: the last line has them first.
type Caller interface{ Calls() []Binding }

// Is reports whether a key is one of the binding's.
func (b Binding) Is(key string) bool { return slices.Contains(b.Keys, key) }

// Link is a key to another screen of an object; Text is its variant.
type Link struct {
	Binding
	Screen, Text string
}

// Links are those of one screen.
type Links []Link

// Open opens the screen that a key leads to, nil for any other key.
func (l Links) Open(key string, of Open) After {
	for _, to := range l {
		if to.Is(key) {
			of.Screen, of.Text = to.Screen, to.Text
			return Send(of)
		}
	}
	return nil
}

// Keys are their keys.
func (l Links) Keys() []Binding {
	out := make([]Binding, len(l))
	for i, to := range l {
		out[i] = to.Binding
	}
	return out
}

// The names of the screens.
const (
	Workloads     = "workloads"
	Rollout       = "rollout"
	Pod           = "pod"
	Diff          = "diff"
	Sidecars      = "sidecars"
	Plan          = "plan"
	Distributions = "distributions"
	// Text shows a manifest or a description, Logs a log.
	Text = "text"
	Logs = "logs"
)

// Changed reports that the world, or the room, has changed.
type Changed struct{}

// Filter is what the user types after /.
type Filter struct{ Text string }

// Click is a click at a place of the screen's own area; Double is a second one there.
type Click struct {
	X, Y   int
	Double bool
}

// Wheel turns by lines, up where it is negative.
type Wheel struct{ By int }

// Order is a command of the screen's own, typed after a colon.
type Order struct {
	Name string
	Args []string
}

// OrderHelp is one such command; Args are what may follow, for completion.
type OrderHelp struct {
	Name, Help string
	Args       []string
}

// Open asks for another screen, on top of this one.
type Open struct {
	Screen string
	// Ref is the workload or object that it is about; Pod, as [world.PodName] has it,
	// and Container narrow it.
	Ref            cluster.Ref
	Pod, Container string
	// Text is a variant, such as "describe".
	Text string
	// Plan is one to show instead of the workload's own; nil for that.
	Plan *plan.Plan
}

// Shell asks for a shell in a container, which takes the terminal over.
type Shell struct{ Namespace, Pod, Container string }

// Notice shows a line until the next key; Bad is for what went wrong.
type Notice struct {
	Text string
	Bad  bool
}

// Send passes a message to the interface.
func Send(msg tea.Msg) After { return Now{msg} }

// After is what should happen after an update: [Now], [Later], or nil for nothing.
type After interface{ after() }

// Now is a message for the interface. It is taken before anything else: a key that is
// pressed next is one of the screen that this one opens, however fast it follows.
type Now struct{ Msg tea.Msg }

// Later is a command, whose message comes when it has one.
type Later tea.Cmd

func (Now) after() {}

func (Later) after() {}

// Waiting is shown until the workload that a screen wants has been loaded: what
// is awaited or, where that is known, why it does not come.
func (e Env) Waiting(what string) []draw.Line {
	if e.World.Unseen == "" {
		return []draw.Line{{}, draw.Text(draw.Busy, "  loading "+what+" ...")}
	}
	lines := []draw.Line{{}, draw.Text(draw.Bad, "  "+what+" cannot be loaded:")}
	lines = append(lines, draw.Indented(4, draw.Plain, e.World.Unseen, e.Width-6)...)
	return append(lines, draw.Text(draw.Faint, "  trying again ..."))
}

// NoMatches is shown in a list of which a filter hides all rows.
const NoMatches = "no matches; esc clears the filter"

// Missing is shown for an object that is not there.
func (e Env) Missing(what string) []draw.Line {
	return append([]draw.Line{{}}, draw.Indented(2, draw.Faint, what+" does not exist; esc goes back", e.Width-2)...)
}
