// Package screen is what the screens of the terminal interface have in common: what
// they are asked, what they may ask for, and what they know. Each screen is a package
// of its own that knows no other screen; they open each other by name.
package screen

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/theme"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// Screen is one screen: a value that messages change and that can be drawn.
type Screen interface {
	// Title is its breadcrumb.
	Title() string
	// Want is what it shows besides the list of workloads.
	Want() world.Want
	// Update is the screen after a message, and what shall happen besides. Messages
	// are keys that nobody above has taken (tea.KeyPressMsg), [Changed], [Filter],
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
	Theme *theme.Theme
	// Source answers what is too large for the world, from a command.
	Source world.Source
	// Width and Height are the room of the screen itself.
	Width, Height int
	// Beat counts pictures of what is waited for.
	Beat int
}

// Selection is what somebody points at.
type Selection struct {
	Workloads []cluster.Ref
	// Pods are of the first workload, Containers of the first pod; none are all.
	Pods, Containers []string
}

// Binding is a key, or several that do the same.
type Binding struct {
	Keys []string
	// Does is a word or two for the last line, Help the rest for the page of help.
	Does, Help string
	// Changes is for what changes the cluster.
	Changes bool
	// Minor stands behind the acts in the last line.
	Minor bool
}

// Is reports whether a key is one of the binding's.
func (b Binding) Is(key string) bool { return slices.Contains(b.Keys, key) }
