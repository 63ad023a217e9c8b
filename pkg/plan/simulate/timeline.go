// Package simulate is a cluster in memory with a clock of its own: objects,
// revisions, pods, nodes and their images, the controllers of package controller,
// a scheduler and a kubelet. It answers what a plan will do pod by pod before
// anything is touched, and it is what the demo and the executor's tests run on.
//
// A run is deterministic from its seed. What Kruise leaves to chance is drawn
// from it, and reported as a tie.
package simulate

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Op names what happened to one pod; the words are those of the recordings.
type Op string

// The ops. Those up to OpDelete are acts of a controller.
const (
	OpInPlace       Op = "inPlaceUpdate"
	OpApplyImages   Op = "applyImages"
	OpSidecarUpdate Op = "sidecarUpdate"
	OpMarkDelete    Op = "markDelete"
	OpCreate        Op = "create"
	OpDelete        Op = "delete"
	OpGone          Op = "gone"
	OpReady         Op = "ready"
	OpNotReady      Op = "notReady"
	OpMarkReady     Op = "markReady"
	OpMarkNotReady  Op = "markNotReady"
	OpLifecycle     Op = "lifecycle"
	OpStopped       Op = "containerStopped"
	OpStarted       Op = "containerStarted"
	OpWaiting       Op = "containerWaiting"
)

// opWords are the ops that matter to readers of a rollout; quietWords are the
// others.
var (
	opWords = map[Op]string{
		OpInPlace: "in place", OpApplyImages: "new image", OpSidecarUpdate: "sidecar",
		OpCreate: "create", OpDelete: "delete", OpReady: "ready", OpWaiting: "cannot run",
	}
	quietWords = map[Op]string{
		OpMarkDelete: "marked", OpGone: "gone", OpNotReady: "not ready", OpMarkReady: "gate open", OpMarkNotReady: "gate shut",
		OpLifecycle: "lifecycle", OpStopped: "stopped", OpStarted: "started",
	}
)

// Word returns the op in one or two words; told is false for operations that only a complete
// timeline shows.
func (op Op) Word() (word string, told bool) {
	if word, told = opWords[op]; told {
		return word, true
	}
	return quietWords[op], false
}

// Record is one thing that happened.
type Record struct {
	// At is counted from the start of the timeline.
	At  time.Duration `json:"-"`
	Op  Op            `json:"op"`
	Pod string        `json:"pod"`
	UID string        `json:"uid,omitempty"`
	// Revision is the pod's after it, Node where it is.
	Node     string `json:"node,omitempty"`
	Revision string `json:"revision,omitempty"`
	// Container is set for what happens to one; From and To are images or
	// states.
	Container string `json:"container,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	// Reason is why, in a few words.
	Reason string `json:"reason,omitempty"`
}

// Sample has the state of the pods from a moment on, until the next sample.
type Sample struct {
	At time.Duration `json:"-"`
	// Old and New are available pods at old revisions and at the new one.
	Old int `json:"old"`
	New int `json:"new"`
	// OldDown and NewDown are pods that are there but not available.
	OldDown int `json:"oldDown"`
	NewDown int `json:"newDown"`
	// Wanted is how many pods there should be.
	Wanted int `json:"wanted"`
}

// Total is how many pods there are, available or not.
func (s Sample) Total() int { return s.Old + s.New + s.OldDown + s.NewDown }

// Unavailable is how many of the wanted pods are missing or not available.
func (s Sample) Unavailable() int { return max(s.Wanted-s.Old-s.New, 0) }

// StepMark is when a step of the plan began and ended.
type StepMark struct {
	Index int
	Name  string
	Title string
	// End is negative for a step that did not end.
	Begin, End time.Duration
	// First is how many records there were when the step began.
	First int
}

// Timeline is a run from its beginning to its end.
type Timeline struct {
	Start   time.Time
	Records []Record
	Samples []Sample
	Steps   []StepMark
	Summary Summary
	// Touches are the pods that were there in the beginning and were changed, in their order.
	Touches []plan.Touch
	// Present is how many pods there were in the beginning.
	Present int
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	// Completed: the last step was done.
	Completed Outcome = "completed"
	// Waiting: a pause waits for approval.
	Waiting Outcome = "waiting"
	// Failed: a limit or a fault stopped the plan.
	Failed Outcome = "failed"
	// Blocked: nothing changes any more, and the plan has no limit that ends it.
	Blocked Outcome = "blocked"
)

// Summary is a run in numbers.
type Summary struct {
	Outcome Outcome
	// Reason is why it did not complete; it may be empty.
	Reason   string
	Duration time.Duration
	// MostDown is the largest number of wanted pods that were not available,
	// MostPods the largest number of pods that were there at once.
	MostDown, MostPods int
	// Restarts of containers, Recreated pods, images pulled, writes to the API.
	Restarts, Recreated, Pulls, Writes int
	// Deleted pods are those which no other pod replaced, as when a workload shrinks.
	Deleted int
	// Created pods are those which replace no other, as when a workload grows.
	Created int
}

// AndDeleted is what follows the number of recreated pods in a text: how many are deleted and created, if any.
func (s Summary) AndDeleted() string {
	text := ""
	if s.Deleted > 0 {
		text += fmt.Sprintf(", %d deleted", s.Deleted)
	}
	if s.Created > 0 {
		text += fmt.Sprintf(", %d created", s.Created)
	}
	return text
}

// errStuck is what waiting ends with when nothing will ever happen again.
var errStuck = errors.New("nothing moves any more")
