package plan

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Verb is the kind of a decision.
type Verb string

// The verbs.
const (
	Act  Verb = "act"
	Wait Verb = "wait"
	Done Verb = "done"
	Halt Verb = "halt"
)

// Decision is what to do next. It names the gate and the pod.
type Decision struct {
	Verb Verb
	// Step is the index of the step that it is about.
	Step int
	// Actions are carried out in order, under Act. Each can be repeated without
	// harm.
	Actions []Action
	// Progress is what to record, before the actions and under every verb, when it
	// is not the snapshot's.
	Progress Progress
	// Until is when to look again at the latest, under Wait; zero is not before
	// something changes.
	Until time.Time
	// Reason is the reason, in one line for users.
	Reason string
	// Blockers are all that is missing, most basic first.
	Blockers []Blocker
	// OnFailure is what follows a halt.
	OnFailure OnFailure
}

// Blocker is one thing that a rollout waits for, or that stops it.
type Blocker struct {
	// Gate names what blocks: budget, partition, ready, pull, schedule, ...
	Gate string
	// Pod is empty when it is not about one pod.
	Pod string
	Why string
}

// String names gate and pod: "ready web-3: container main does not run web:2 yet".
func (b Blocker) String() string {
	if b.Pod == "" {
		return b.Gate + ": " + b.Why
	}
	return b.Gate + " " + b.Pod + ": " + b.Why
}

// ParseBlocker reads back what [Blocker.String] has written, such as the reason that a
// record holds; any other text is a blocker of [GateProgress].
func ParseBlocker(reason string) Blocker {
	head, why, _ := strings.Cut(reason, ": ")
	gate, pod, _ := strings.Cut(head, " ")
	if !slices.Contains(gates, gate) || why == "" || strings.Contains(pod, " ") {
		return Blocker{Gate: GateProgress, Why: reason}
	}
	return Blocker{Gate: gate, Pod: pod, Why: why}
}

// Gates that a [Blocker] names.
const (
	// GateObject: the object is gone, or another.
	GateObject = "object"
	// GateOwner: another controller owns the rollout of the object.
	GateOwner = "owner"
	// GateProgress: what was recorded does not fit the plan.
	GateProgress = "progress"
	// GateTemplate: the template is not the one that the plan knows.
	GateTemplate = "template"
	// GatePartition: the partition is not the one that the plan has set.
	GatePartition = "partition"
	// GatePaused: the object is paused.
	GatePaused = "paused"
	// GatePromote: the step waits for approval.
	GatePromote = "promote"
	// GateHeld: a user has paused the rollout.
	GateHeld = "held"
	// GateTime: a pause has not ended.
	GateTime = "time"
	// GatePull: images are not on the nodes yet.
	GatePull = "pull"
	// GateVerify: the answer is not there, or bad.
	GateVerify = "verify"
	// GateUpdated: pods are not updated or not available yet.
	GateUpdated = "updated"
	// GateReady: one pod is not ready.
	GateReady = "ready"
	// GateCrash: a container ends again and again.
	GateCrash = "crash"
	// GateImage: an image cannot be pulled.
	GateImage = "image"
	// GateSchedule: no node takes a pod.
	GateSchedule = "schedule"
	// GateBudget: a budget lets no pod go.
	GateBudget = "budget"
	// GateMaxUnavailable: the workload's own limit of pods that are down at once is used up.
	GateMaxUnavailable = "maxUnavailable"
	// GateHook: a lifecycle hook holds a pod.
	GateHook = "hook"
	// GateGrace: a pod is being drained.
	gateGrace = "grace"
	// GateDeadline: the step has taken too long.
	GateDeadline = "deadline"
	// GateNotAllowed: the update policy forbids the change.
	GateNotAllowed = "notAllowed"
)

// gates are all gates.
var gates = []string{
	GateObject, GateOwner, GateProgress, GateTemplate, GatePartition, GatePaused, GatePromote, GateHeld, GateTime, GatePull, GateVerify,
	GateUpdated, GateReady, GateCrash, GateImage, GateSchedule, GateBudget, GateMaxUnavailable, GateHook, gateGrace, GateDeadline, GateNotAllowed,
}

// Action is one write of a rollout. Exactly one of its parts is set.
type Action struct {
	// Step is the name of the step that it belongs to: answers are kept under it.
	Step string
	// Patch changes an object; Precondition must hold in the same request.
	Patch *Patch
	// Mark is the value of [BegunAnnotation] that the request of Patch sets as well; empty sets none.
	Mark string
	// Precondition is the uid and, when set, the resourceVersion that the
	// object must have.
	Precondition Precondition
	// Pod changes a pod, Evict asks the budgets and then deletes one, Delete
	// does not ask.
	Pod           *PodAction
	Evict, Delete *PodRef
	// Pull has images pulled, Restart restarts containers in one pod, Verify
	// asks a question whose answer comes as Snapshot.Verified.
	Pull    *Pull
	Restart *Restart
	Verify  *Verify
}

// Precondition pins an action to the object it was decided for.
type Precondition struct{ UID, ResourceVersion string }

// PodRef names one pod, never its successor.
type PodRef struct{ Namespace, Name, UID string }

// PodAction is a change of one pod.
type PodAction struct {
	PodRef
	Change cluster.PodChange
}

// Restart restarts containers inside one pod.
type Restart struct {
	PodRef
	Containers []string
	// Method is [RestartCRR], [RestartAlias] or [RestartSignal]; empty leaves the
	// choice to the executor.
	Method string
	RestartStrategy
}

// Errors that the executor of an [Action] wraps.
var (
	// ErrConflict is a precondition that did not hold: look again.
	ErrConflict = errors.New("the object has changed")
	// ErrRefused is a request that admission or a budget turned down for now.
	ErrRefused = errors.New("refused")
	// ErrUnavailable is a cluster that does not answer, or not now.
	ErrUnavailable = errors.New("the cluster does not answer")
	// ErrCredentials are credentials that the cluster does not take, or no longer.
	ErrCredentials = errors.New("the cluster does not accept the credentials")
	// ErrOtherExecutor is a rollout that has another executor.
	ErrOtherExecutor = errors.New("another process runs the rollout")
	// ErrNotFound is an object that is not there.
	ErrNotFound = errors.New("not found")
	// ErrNoRollout is a workload of which no rollout is recorded.
	ErrNoRollout = errors.New("no rollout is recorded")
)
