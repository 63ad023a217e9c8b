package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Record is one rollout as it is kept in a cluster: all that another machine needs to
// continue it.
type Record struct {
	Ref      cluster.Ref
	Plan     Plan
	Progress Progress
	// Base is the template that the workload had before.
	Base map[string]any
	// Begun is when the rollout was begun, Times when each step was, by name.
	Begun time.Time
	Times map[string]time.Time
	// By is who wrote it last, Audit what was decided, of the plans before as well.
	By    string
	Audit Audit
	// Past are the rollouts before this one, oldest first. PastFault says why they cannot
	// be read; empty where they can.
	Past      []PastRollout
	PastFault string
	// UID and Version are those of the object that keeps it. Version changes with every
	// write; it is empty where nothing is kept.
	UID, Version string
}

// State returns the state of the rollout.
func (r Record) State() State { return r.Progress.State(r.Plan) }

// InFlight reports whether steps are left to be taken: the rollout runs or is on hold.
func (r Record) InFlight() bool {
	s := r.State()
	return s == StateRunning || s == StateHeld
}

// Describe says in a few words where the rollout is.
func (r Record) Describe() string { return r.Progress.Describe(r.Plan) }

// Present returns the step that the rollout is at; nil for none.
func (r Record) Present() *Step {
	if !r.Progress.Finished.IsZero() {
		return nil
	}
	return r.Progress.present(r.Plan)
}
