// Package event has the types of what a rollout reports while it is carried out. The stream
// opens with the whole ladder of steps and ends with one outcome; line printer,
// JSON lines and TUI are readers of it. There is no code here but types.
package event

import (
	"time"
)

// Type says what an event is about, and which of its parts are set.
type Type string

// The types of events.
const (
	// Opened is the first: Plan has the ladder, Counts the pods.
	Opened Type = "opened"
	// StepBegun, StepDone: Step is the rung; Text says what happens, or that it was
	// skipped.
	StepBegun Type = "stepBegun"
	StepDone  Type = "stepDone"
	// Acted: Text says what was written, Request how.
	Acted Type = "acted"
	// Refused: a write was turned down for now, Text says by whom. It is tried again.
	Refused Type = "refused"
	// Pods: Counts have changed.
	Pods Type = "pods"
	// Waiting: what the rollout waits for has changed, see Blockers.
	Waiting Type = "waiting"
	// Paused: it waits for a person.
	Paused Type = "paused"
	// Halted: it has stopped by itself; Text says why.
	Halted Type = "halted"
	// RollingBack: the way back begins; Plan has its ladder.
	RollingBack Type = "rollingBack"
	// Note is for people.
	Note Type = "note"
	// Ended is the last: Outcome says how.
	Ended Type = "ended"
)

// Outcome is how a rollout, or the watching of it, ended.
type Outcome string

// The outcomes.
const (
	// Completed: the workload is as the plan wanted it.
	Completed Outcome = "completed"
	// Failed: it halted and stays where it is.
	Failed Outcome = "failed"
	// RolledBack: it halted and the workload is as it was before.
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
	// Step is the index of the rung, from 0; -1 where none is meant.
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

// Plan is the ladder.
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

// Step is one rung.
type Step struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	// Updated is how many pods carry the new template when it is done.
	Updated int `json:"updated"`
}

// Counts are pods of the workload that are not being deleted.
type Counts struct {
	// Desired is how many there should be.
	Desired int `json:"desired"`
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	// Updated carry the new template, UpdatedReady are ready besides.
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
	// Why says what a rollout wants with it.
	Why string `json:"why,omitempty"`
	// Body is JSON as Go has it; it may hold secrets.
	Body any `json:"body,omitempty"`
}
