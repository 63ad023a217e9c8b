package screen

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// The names of the screens.
const (
	Workloads = "workloads"
	Rollout   = "rollout"
	Pod       = "pod"
	Diff      = "diff"
	Sidecars  = "sidecars"
	Plan      = "plan"
	FanOuts   = "distributions"
	// Text shows a manifest or a description, Logs a log.
	Text = "text"
	Logs = "logs"
)

// Changed says that the world, or the room, has changed.
type Changed struct{}

// Filter is what somebody types after /.
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

// Back asks for the screen below.
type Back struct{}

// Ask asks for an act; it is confirmed and carried out above.
type Ask struct{ world.Act }

// Shell asks for a shell in a container, which takes the terminal over.
type Shell struct{ Namespace, Pod, Container string }

// Say shows a line until the next key; Bad is for what went wrong.
type Say struct {
	Text string
	Bad  bool
}

// Send says something to whoever is above.
func Send(msg tea.Msg) After { return Now{msg} }
