package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Record is one rollout as it is kept in a cluster: all that another machine needs to
// continue it. As JSON it has what changes while it is carried out.
type Record struct {
	Ref  cluster.Ref `json:"target"`
	Plan Plan        `json:"-"`
	// Begun is when the rollout was begun, By who wrote it last.
	Begun    time.Time `json:"begun"`
	By       string    `json:"by,omitempty"`
	Progress Progress  `json:"progress"`
	// Times is when each step was begun, by name.
	Times map[string]time.Time `json:"times,omitempty"`
	// Audit is what was decided, of the plans before as well.
	Audit
	// Base is the template that the workload had before.
	Base map[string]any `json:"-"`
	// Past are the rollouts before this one, oldest first. PastFault is why they cannot be read;
	// empty if they can.
	Past      []PastRollout `json:"-"`
	PastFault string        `json:"-"`
	// UID and Version are those of the object that keeps it. Version changes with every
	// write; it is empty where nothing is kept.
	UID     string `json:"-"`
	Version string `json:"-"`
}

// State returns the state of the rollout.
func (r Record) State() State { return r.Progress.State(r.Plan) }

// InFlight reports whether steps are left: the rollout is in progress or paused.
func (r Record) InFlight() bool {
	s := r.State()
	return s == StateRunning || s == StateHeld
}

// IsCurrent reports whether a record says how the workload of a snapshot is now: a rollout in
// flight does, and one that has ended as long as the live template is what it rolled out. One that
// was completed also has to hold still: the spec, or pods, may have changed since.
func (r Record) IsCurrent(s Snapshot, now time.Time) bool {
	w := s.Object()
	switch {
	case r.Begun.IsZero():
		return false
	case r.InFlight() || w == nil || w.Object == nil || r.isDrift():
		return true
	case !r.isLiveTemplate(hashOf(w)):
		return false
	case r.State() == StateDone:
		p, spec := ForSpec(s)
		return Next(p, spec, now).Verb == Done
	}
	return true
}

// IsDelivered reports whether a workload has what a rollout that is done has given it: its template, and no
// more pods of an earlier one than it keeps. A record alone proves nothing: others may have edited it.
func (r Record) IsDelivered(s Snapshot) bool {
	w := s.Object()
	if w == nil || w.Object == nil || !r.isLiveTemplate(hashOf(w)) {
		return false
	}
	kept := 0
	for i := range r.Plan.Steps {
		if step := &r.Plan.Steps[i]; step.Updated > 0 || step.Kept > 0 {
			kept = step.Kept
		}
	}
	outdated, _ := OutdatedPods(s)
	return outdated <= kept
}

// isDrift reports whether the rollout failed since others have changed the workload: their change
// is no reason to take the failure for one of the past, until a user ends the rollout.
func (r Record) isDrift() bool {
	gate := ParseBlocker(r.Progress.Failed).Gate
	return !r.Progress.Aborted && (gate == GateTemplate || gate == GatePartition || gate == GatePaused)
}

// isLiveTemplate reports whether a template is the one that the rollout has written; before it has
// written any, the one that it started from.
func (r Record) isLiveTemplate(hash string) bool {
	c, p := r.Plan.Change, r.Progress
	if hash == c.ToHash {
		return true
	}
	for i := range r.Plan.Steps[:min(max(p.Step, 0)+1, len(r.Plan.Steps))] {
		if r.Plan.Steps[i].Kind == StepUpdate && (i < p.Step || p.Sent > 0) {
			return false
		}
	}
	return r.State() != StateDone && hash == c.FromHash
}

// Describe reports in a few words where the rollout is.
func (r Record) Describe() string { return r.Progress.Describe(r.Plan) }

// Present returns the step that the rollout is at; nil for none.
func (r Record) Present() *Step {
	if !r.Progress.Finished.IsZero() {
		return nil
	}
	return r.Progress.currentStep(r.Plan)
}

// AuditEntry is one entry of a rollout's history: what a user, or the executor of
// the rollout, decided. People who may write the record may edit its history as well, so
// it informs and proves nothing (docs/safety.md).
type AuditEntry struct {
	// At is in whole seconds, UTC.
	At time.Time `json:"at"`
	// By names the user and the machine, Program what they ran, with its version; Program
	// is empty where that is not known.
	By      string `json:"by"`
	Program string `json:"program,omitempty"`
	// What is a transition, or one of the outcomes below.
	What string `json:"what"`
	// Detail returns more: the step, or the reason; it may be empty.
	Detail string `json:"detail,omitempty"`
}

// The outcomes of a rollout in a history that no user decides.
const (
	AuditHalt   = "halt"
	auditFinish = "finish"
)

// auditWords are entries of a history as users read them.
var auditWords = map[string]string{
	string(TransitionBegin): "started", string(TransitionPromote): "promoted", string(TransitionPause): "paused",
	string(TransitionResume): "resumed", string(TransitionRetry): "retried", string(TransitionAbort): "aborted",
	string(TransitionRollBack): "rolled back", string(TransitionUndo): "rolled back",
	AuditHalt: "failed", auditFinish: "completed",
}

// Happened is what happened as users read it, such as "promoted".
func (e AuditEntry) Happened() string {
	if words, ok := auditWords[e.What]; ok {
		return words
	}
	return e.What
}

// Summary is what happened and who did it, such as "promoted by ann@host".
func (e AuditEntry) Summary() string {
	if e.What == AuditHalt || e.What == auditFinish {
		return e.Happened() + ", run by " + e.By
	}
	return e.Happened() + " by " + e.By
}

// The bounds of a history: entries, and bytes of each text of an entry. The record must
// fit into a ConfigMap, however often a rollout is paused.
const (
	maxEntries    = 50
	maxEntryBytes = 200
)

// Audit is what was decided, oldest first.
type Audit struct {
	Entries []AuditEntry `json:"history,omitempty"`
	// Dropped is how many entries there were between the first and the second one that are
	// no longer kept.
	Dropped int `json:"dropped,omitempty"`
}

// With returns the history with an entry. The first entry stays; after it, the oldest
// make room.
func (h Audit) With(d AuditEntry) Audit {
	d.At = d.At.UTC().Truncate(time.Second)
	d.By, d.Program, d.Detail = truncated(d.By), truncated(d.Program), truncated(d.Detail)
	h.Entries = append(slices.Clone(h.Entries), d)
	if n := len(h.Entries) - maxEntries; n > 0 {
		h.Entries = slices.Delete(h.Entries, 1, 1+n)
		h.Dropped += n
	}
	return h
}

func truncated(text string) string {
	if len(text) <= maxEntryBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxEntryBytes], "") + "…"
}

// BeginEntry is the entry of a plan that was recorded.
func BeginEntry(p Plan) (what, detail string) {
	if p.RollbackReason != "" {
		return string(TransitionRollBack), p.RollbackReason
	}
	return string(TransitionBegin), fmt.Sprintf("%s to template %s", counted.Of(len(p.Steps), "step"), p.Change.ToHash)
}

// TransitionBetween returns what changed one progress into another: a transition by a user, or an
// outcome; "" if it only advanced. driven is true for what the executor of the rollout wrote.
func TransitionBetween(before, after Progress, of Plan, driven bool) (what, detail string) {
	at := func() string {
		if s := after.currentStep(of); s != nil {
			return "step " + s.Name
		}
		return ""
	}
	switch {
	case before.Failed == "" && after.Failed != "" && driven:
		return AuditHalt, after.Failed
	case before.Failed == "" && after.Failed != "":
		return string(TransitionAbort), at()
	case before.Finished.IsZero() && !after.Finished.IsZero():
		return auditFinish, ""
	case driven:
		return "", ""
	case before.Failed != "" && after.Failed == "":
		return string(TransitionRetry), at()
	case after.FirstCountingPause > before.FirstCountingPause:
		return string(TransitionPromote), fmt.Sprintf("%s, and on to step %d of %d", at(), min(after.FirstCountingPause, len(of.Steps)), len(of.Steps))
	case after.Promoted && !before.Promoted:
		return string(TransitionPromote), at()
	case before.PausedBy == "" && after.PausedBy != "":
		return string(TransitionPause), at()
	case before.PausedBy != "" && after.PausedBy == "", !before.Resumed.Equal(after.Resumed):
		return string(TransitionResume), at()
	}
	return "", ""
}

// Decide returns the record with a new progress, and an entry in its history where the
// change is one. by, program and driven are as in [AuditEntry] and [TransitionBetween].
func (r Record) Decide(p Progress, by, program string, driven bool, now time.Time) Record {
	if what, detail := TransitionBetween(r.Progress, p, r.Plan, driven); what != "" {
		r.Audit = r.With(AuditEntry{At: now, By: by, Program: program, What: what, Detail: detail})
	}
	r.Progress, r.By = p, by
	return r
}
