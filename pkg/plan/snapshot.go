package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Snapshot is what is known of one workload at one moment.
type Snapshot struct {
	// Version changes whenever anything below does.
	Version  string
	Workload *cluster.Workload
	// Carrier is the native object that stands for a Kruise workload where there
	// is no Kruise; nil when Workload itself is in the cluster.
	Carrier *cluster.Workload
	// Revisions and Pods are those that belong to the workload; a SidecarSet's
	// pods are those it may match, of all namespaces.
	Revisions []cluster.Revision
	Pods      []*cluster.Pod
	Nodes     map[string]*cluster.Node
	// Namespaces are the labels of each namespace; only SidecarSets need them.
	Namespaces map[string]map[string]string
	// Budgets and Disruptions cover at least one of the pods.
	Budgets     []*rules.Budget
	Disruptions []*rules.DisruptionBudget
	Reports     map[string]rules.NodeReport
	Gates       cluster.Gates
	// GatesUnread is why the gates are assumed, since what Kruise's manager was started
	// with could not be read; empty where they are known.
	GatesUnread string
	// Pulled is on how many of the workload's nodes each image is.
	Pulled map[string]int
	// Pulling are images that somebody has been asked to pull, which the cluster
	// itself remembers.
	Pulling map[string]bool
	// Pulls is what is to be said of a pull beyond that, by image: nothing while all
	// goes well.
	Pulls map[string]PullState
	// Verified are results of verify steps by step name, and of restarts by
	// [RestartKey].
	Verified map[string]Result
	// Progress is how far the plan has come, as recorded in the cluster.
	Progress Progress
	// Base is the template that the rollout started from, as recorded; nil where
	// none was.
	Base map[string]any
}

// Object is the one in the cluster: the carrier if there is one. It is nil when that
// is gone.
func (s *Snapshot) Object() *cluster.Workload {
	if s.Carrier != nil {
		return s.Carrier
	}
	return s.Workload
}

// report is what the node says of a pod; one that says nothing has nothing pending.
func (s *Snapshot) report(p *cluster.Pod) rules.NodeReport {
	if r, ok := s.Reports[p.UID]; ok {
		return r
	}
	return rules.NodeReport{EnvHashes: true, Resources: true}
}

// PullState is how the pull of one image stands.
type PullState struct {
	// Over is true when nobody goes on pulling it.
	Over bool
	// Troubles are the nodes that do not get it.
	Troubles []PullTrouble
}

// PullTrouble is one node that does not get an image.
type PullTrouble struct {
	Node, Why string
	// Final is true where nobody tries again; Since is when trying again began to
	// fail.
	Final bool
	Since time.Time
}

// Result is the answer to one verify step.
type Result struct {
	Done, Good bool
	// Text is what was seen, for people.
	Text string
	At   time.Time
}

// Progress is how far a rollout has come. It lives in the cluster, so any
// machine can go on. Its zero value is a rollout that has not begun.
type Progress struct {
	// Step is the index of the present step, Started when it began; the first
	// step with a zero time has not begun.
	Step    int
	Started time.Time
	// Resumed is when somebody last went on with the step, whose time counts from then;
	// what it has asked for stays asked for. Zero while nobody has.
	Resumed time.Time
	// Sent is how many of the step's patches have been seen in force.
	Sent int
	// Promoted is true when somebody has promoted the present step, which must
	// be a pause, or skipped what it waits for.
	Promoted bool
	// Free is the index of the first step whose pause counts: somebody has promoted
	// all before it.
	Free int
	// Held is who has put the rollout on hold, and when; empty while it is not. Nothing is
	// written meanwhile but what stops the controller.
	Held string
	// HeldFrom is the index of the first step that the hold keeps from being taken; those
	// before it are carried out.
	HeldFrom int
	// Halted is why the rollout stopped; empty while it goes on.
	Halted string
	// Aborted is true where a person ended the rollout: it is not rolled back for that,
	// whatever its steps say of failures.
	Aborted bool
	// Stop is what keeps the controller from updating pods while the rollout is on hold or
	// after it was aborted.
	Stop Stop
	// Finished is set when the last step was done.
	Finished time.Time
}

// Verb is what a decision says.
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
	// Reason says why, in one line for people.
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

// Action is one write of a rollout. Exactly one of its parts is set.
type Action struct {
	// Step is the name of the step that it belongs to: answers are kept under it.
	Step string
	// Patch changes an object; Precondition must hold in the same request.
	Patch *Patch
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
	// choice to whoever carries it out.
	Method string
	RestartStrategy
}

// Observed reports whether the controller has seen the present spec of the object; true
// where there is none.
func (s *Snapshot) Observed() bool {
	w := s.Object()
	return w == nil || w.Object == nil || rules.Observed(w.Object)
}
