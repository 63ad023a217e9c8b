package plan

import "time"

// Policy is how somebody wants a change rolled out. Its zero value asks for the
// defaults: see [DefaultSteps], and the constants below for the rest.
type Policy struct {
	// Steps are cumulative and rise; without any, [DefaultSteps] are taken.
	Steps []PolicyStep
	// Verify is asked after each step, before the step's own.
	Verify []Verify
	Pull   PullPolicy
	// Parallel is how many nodes pull at a time; 0 leaves it to the puller.
	Parallel int
	// Timeout limits each step; 0 works out a limit from the step's size.
	Timeout time.Duration
	// OnFailure is empty for [FailPause]: going back is a rollout too, which
	// somebody should want.
	OnFailure OnFailure
	// Driver is empty for whoever replaces the workload's pods by itself.
	Driver Driver
	Drain  Drain
	// Grace is how long a pod is out of service before its containers change, for
	// the driver client; 0 takes the workload's own inPlaceUpdateStrategy.
	Grace time.Duration
	// HookAnswer is after how long a program answers the workload's lifecycle hooks,
	// as the plan assumes; 0 is [DefaultHookAnswer], [HookNever] is never.
	HookAnswer time.Duration
}

// PolicyStep is one step of a policy.
type PolicyStep struct {
	// To is how many pods are updated when the step is done.
	To Amount
	// Pause follows the step; nil goes on at once.
	Pause *Pause
	// Verify is asked after this step.
	Verify []Verify
}

// PullPolicy says whether new images are pulled before any pod changes.
type PullPolicy string

// The policies of pulling.
const (
	// PullAuto pulls when containers restart in place: the gap of a restart is a
	// twentieth of a second with the image there, and as long as the pull without.
	PullAuto PullPolicy = ""
	// PullFirst pulls before anything else happens.
	PullFirst PullPolicy = "first"
	// PullNever leaves it to the nodes.
	PullNever PullPolicy = "never"
)

// Drain says how the driver client takes a pod out of service (docs/drivers.md).
type Drain string

// The ways to take a pod out of service.
const (
	// DrainAuto is label where rendering has put that label into the template,
	// else none.
	DrainAuto Drain = ""
	// DrainLabel removes the label kubectl-kruise.dev/in-service.
	DrainLabel Drain = "label"
	// DrainGate sets the readiness gate InPlaceUpdateReady.
	DrainGate Drain = "gate"
	// DrainNone leaves it in service.
	DrainNone Drain = "none"
)
