package world

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// Detail is one workload with its pods and the recorded rollout.
type Detail struct {
	Ref cluster.Ref
	// Question is all that is known: plan, pods, revisions, who drives.
	diagnose.Question
	Driver plan.Driver
	// Health, Diagnosis and Blockers are what follows from it.
	Health    Health
	Diagnosis diagnose.Diagnosis
	Pods      plan.Tally
	// Updated are the UIDs of pods that carry the new template.
	Updated map[string]bool
	// Subsets are the subsets of pods by UID, where there are any.
	Subsets map[string]string
	// Events are about the workload and its pods, newest first.
	Events []Event
	// Rollouts are the recorded ones, newest first, with their results and decisions.
	Rollouts []plan.PastRollout
}

// Describe works out a detail. It goes over all pods and asks all rules, so sources
// call it when something has changed, never while a frame is drawn.
func Describe(q diagnose.Question, events []Event) *Detail {
	w := q.Snapshot.Workload
	d := &Detail{
		Ref: w.Ref, Driver: q.Plan.Driver, Events: events,
		Diagnosis: diagnose.Workload(q), Pods: plan.Count(q.Plan, q.Snapshot), Updated: map[string]bool{},
	}
	q.Snapshot.Pods = q.Snapshot.Members()
	d.Question = q
	carries := plan.UpdatedTest(q.Plan, q.Snapshot)
	for _, p := range q.Snapshot.Pods {
		if carries(p) {
			d.Updated[p.UID] = true
		}
	}
	d.Health = d.judge()
	return d
}

// Row is the line of the list that belongs to it.
func (d *Detail) Row() *Workload {
	w := d.Snapshot.Workload
	row := &Workload{Ref: d.Ref, Driver: d.Driver, Labels: w.Labels, Health: d.Health, Why: d.Diagnosis.Reason(), Pods: d.Pods}
	for _, p := range d.Members() {
		if p.State == Failing {
			row.Failing++ // at the update revision, and does not become ready by itself
		}
	}
	if d.Begun && len(d.Plan.Steps) > 0 {
		row.Steps = len(d.Plan.Steps)
		row.Step = min(d.Snapshot.Progress.Step, row.Steps-1)
		row.StepName = d.Plan.Steps[row.Step].Name
	}
	row.Approval = d.Diagnosis.Status.State == plan.StatusApproval
	row.Toggle = d.toggle()
	return row
}

// toggle is what pausing or resuming comes to: a rollout without an executor is resumed, one that waits for approval
// is neither paused nor resumed.
func (d *Detail) toggle() plan.Transition {
	running := d.Begun && d.Snapshot.Progress.State(d.Plan) != plan.StateDone
	switch t := d.Snapshot.Progress.Toggle(d.Plan); {
	case running && t != plan.TransitionPause:
		return t
	case d.Diagnosis.Status.State == plan.StatusApproval:
		return ""
	case running && d.Holder == "", !running && d.Health == Paused:
		return plan.TransitionResume
	case running, d.Health == Progressing:
		return plan.TransitionPause
	}
	return ""
}

// waiting are gates that a person opens.
var waiting = []string{plan.GatePromote, plan.GateHeld, plan.GatePaused}

func (d *Detail) judge() Health {
	p, now := d.Snapshot.Progress, d.Pods
	switch {
	case p.Failed != "" && p.Aborted:
		return Aborted
	case p.Failed != "":
		return Blocked
	case slices.ContainsFunc(d.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Blocked && slices.Contains(waiting, c.Gate) }):
		return Paused
	case slices.ContainsFunc(d.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Blocked }):
		return Blocked
	case d.Begun && p.Finished.IsZero() || now.Updated < now.Total:
		return Progressing
	case now.Ready < now.Desired:
		return Degraded
	}
	return Healthy
}

// Event is one thing that the cluster tells, or a rollout does.
type Event struct {
	At time.Time
	// Count is how often it was reported, First when it was reported first.
	Count int
	First time.Time
	// About is the kind and name that it is about, Pod the name where it is a pod.
	About, Pod string
	// Warning is for what should not happen.
	Warning      bool
	Reason, Text string
}

// Pod is a pod of a workload, and what the workload makes of it.
type Pod struct {
	*cluster.Pod
	State PodState
	// Updated is true at the update revision.
	Updated bool
}

// PodState is how a pod is doing.
type PodState uint8

// The states of pods at the update revision, of pods at another one, and of those that are deleted.
const (
	Ready PodState = iota
	Starting
	Failing
	OutdatedReady
	OutdatedUnavailable
	OutdatedFailing
	Terminating
	PodStates
)

// String is the state in a word or two.
func (s PodState) String() string {
	return [...]string{"new", "starting", "failing", "old", "unavailable", "old, failing", "terminating"}[s]
}

// Members are the pods of the workload with their states, in the order of the snapshot.
func (d *Detail) Members() []Pod {
	fails := d.failing()
	out := make([]Pod, len(d.Snapshot.Pods))
	for i, p := range d.Snapshot.Pods {
		updated := d.Updated[p.UID]
		out[i] = Pod{p, stateOf(p, updated, fails), updated}
	}
	return out
}

func stateOf(p *cluster.Pod, updated bool, fails func(*cluster.Pod) bool) PodState {
	ready := p.IsReady()
	switch {
	case p.Deleting:
		return Terminating
	case updated && ready:
		return Ready
	case updated && fails(p):
		return Failing
	case updated:
		return Starting
	case ready:
		return OutdatedReady
	case fails(p):
		return OutdatedFailing
	}
	return OutdatedUnavailable
}

// failing reports which pods do not become ready by themselves: one of their containers
// waits for what does not come, or the diagnosis names them for a crash, an image or a node.
func (d *Detail) failing() func(*cluster.Pod) bool {
	named := map[string]bool{}
	for _, c := range d.Diagnosis.Causes {
		if c.Blocked && slices.Contains([]string{plan.GateCrash, plan.GateImage, plan.GateSchedule}, c.Gate) {
			for _, name := range c.Pods {
				named[name] = true
			}
		}
	}
	return func(p *cluster.Pod) bool {
		if p.Deleting || p.IsReady() {
			return false
		}
		c, bad := diagnose.Troubled(p)
		if bad {
			_, before := diagnose.FailedBefore(p, c)
			return !before
		}
		return named[p.Name]
	}
}

// PodName is how a pod of a workload is named: where the workload has no namespace, as
// a SidecarSet, that of the pod and a slash stand before its name.
func PodName(workload cluster.Ref, p *cluster.Pod) string {
	if workload.Namespace != "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// Pod returns a pod by its [PodName], nil without it.
func (d *Detail) Pod(name string) *cluster.Pod {
	for _, p := range d.Snapshot.Pods {
		if PodName(d.Ref, p) == name {
			return p
		}
	}
	return nil
}

// PodRef names a pod of a workload as an object.
func PodRef(workload cluster.Ref, name string) cluster.Ref {
	ref := cluster.Ref{Kind: "Pod", Namespace: workload.Namespace, Name: name}
	if workload.Namespace != "" {
		return ref
	}
	if space, rest, ok := strings.Cut(name, "/"); ok {
		ref.Namespace, ref.Name = space, rest
	}
	return ref
}
