// Package event has the types of what a rollout reports while it is carried out. The stream
// opens with all steps of the plan and ends with one outcome; the line printer, JSON lines
// and the terminal interface read it. There is no code here but types.
package event

import (
	"time"
)

// Type describes what an event is about, and which of its parts are set.
type Type string

// The types of events.
const (
	// Opened is the first: Plan has the steps, Counts the pods.
	Opened Type = "opened"
	// StepBegun, StepDone: Step is the index of the step; Text says what happens, or that it was
	// skipped.
	StepBegun Type = "stepBegun"
	StepDone  Type = "stepDone"
	// Acted: Text says what was written, Request how.
	Acted Type = "acted"
	// Refused: a write was refused for now, Text says by what. It is tried again.
	Refused Type = "refused"
	// Pods: Counts have changed.
	Pods Type = "pods"
	// Waiting: what the rollout waits for has changed, see Blockers.
	Waiting Type = "waiting"
	// Paused: it waits for a user.
	Paused Type = "paused"
	// Halted: it has failed; Text says why.
	Halted Type = "halted"
	// RollingBack: the rollback begins; Plan has its steps.
	RollingBack Type = "rollingBack"
	// Note is for people.
	Note Type = "note"
	// Ended is the last: Outcome says how.
	Ended Type = "ended"
)

// Outcome is how a rollout, or a watch of it, ended.
type Outcome string

// The outcomes.
const (
	// Completed: the workload is as planned.
	Completed Outcome = "completed"
	// Failed: it failed, and the pods stay as they are.
	Failed Outcome = "failed"
	// RolledBack: it failed and the workload is as it was before.
	RolledBack Outcome = "rolledBack"
	// AtPause: it waits for a user, and no process waits with it.
	AtPause Outcome = "paused"
	// TimedOut: the caller's time is over; the rollout can be resumed.
	TimedOut Outcome = "timedOut"
	// Interrupted: the caller was told to stop; the rollout can be resumed.
	Interrupted Outcome = "interrupted"
	// TakenOver: another process runs the rollout now.
	TakenOver Outcome = "takenOver"
)

// Event is one thing that happened.
type Event struct {
	Time     time.Time `json:"time"`
	Type     Type      `json:"type"`
	Workload Workload  `json:"workload"`
	// Plan is set in Opened and RollingBack.
	Plan *Plan `json:"plan,omitempty"`
	// Step is the index of the step, from 0; -1 for none.
	Step     int       `json:"step"`
	StepName string    `json:"stepName,omitempty"`
	Text     string    `json:"text,omitempty"`
	Request  string    `json:"request,omitempty"`
	Counts   *Counts   `json:"counts,omitempty"`
	Blockers []Blocker `json:"blockers,omitempty"`
	Outcome  Outcome   `json:"outcome,omitempty"`
}

// Workload names what is rolled out.
type Workload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Plan is the plan with its steps.
type Plan struct {
	Driver string `json:"driver"`
	// From and To are revisions; To is empty while it is not stored.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Mode string `json:"mode,omitempty"`
	Why  string `json:"why,omitempty"`
	// Restarts are containers that restart in place.
	Restarts []string `json:"restarts,omitempty"`
	// At is the index of the present step.
	At    int    `json:"at"`
	Steps []Step `json:"steps"`
}

// Step is one step of a plan.
type Step struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	// Updated is how many pods are up to date when it is done.
	Updated int `json:"updated"`
}

// Counts are pods of the workload that are not being deleted.
type Counts struct {
	// Desired is how many there should be.
	Desired int `json:"desired"`
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	// Updated are up to date, UpdatedReady are ready as well.
	Updated      int `json:"updated"`
	UpdatedReady int `json:"updatedReady"`
}

// Blocker is one thing that the rollout waits for, or that stops it; see
// plan.Blocker.
type Blocker struct {
	Gate string `json:"gate"`
	Pod  string `json:"pod,omitempty"`
	Why  string `json:"why"`
}

// Request is one write of an API server, as it would be sent.
type Request struct {
	// Type is always "request": among JSON lines it distinguishes requests from events.
	Type   string `json:"type"`
	Method string `json:"method"`
	// Path begins with /api or /apis; parameters are those that belong to the request
	// itself, such as the command of an exec.
	Path        string `json:"path"`
	ContentType string `json:"contentType,omitempty"`
	// Why describes what a rollout sends it for.
	Why string `json:"why,omitempty"`
	// Body is JSON as Go has it; it may hold secrets.
	Body any `json:"body,omitempty"`
}
