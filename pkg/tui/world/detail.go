package world

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// Detail is one workload with its pods and the rollout on record.
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
	// members are the pods of classified, which are those of the snapshot, with their states.
	members    []Pod
	classified []*cluster.Pod
	// Subsets are the subsets of pods by UID, where there are any.
	Subsets map[string]string
	// Events are about the workload and its pods, newest first.
	Events []Event
	// Rollouts are those on record, newest first: what they came to, and who decided what.
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
	carries := plan.Carries(q.Plan, q.Snapshot)
	for _, p := range q.Snapshot.Pods {
		if carries(p) {
			d.Updated[p.UID] = true
		}
	}
	d.members, d.classified = d.classify(), d.Snapshot.Pods
	d.Health = d.judge()
	return d
}

// Row is the line of the list that belongs to it.
func (d *Detail) Row() *Workload {
	w := d.Snapshot.Workload
	row := &Workload{Ref: d.Ref, Driver: d.Driver, Labels: w.Labels, Health: d.Health, Why: d.Diagnosis.Reason(), Pods: d.Pods, Failing: d.updatedFailing()}
	if d.Begun && len(d.Plan.Steps) > 0 {
		row.Steps = len(d.Plan.Steps)
		row.Step = min(d.Snapshot.Progress.Step, row.Steps-1)
		row.StepName = d.Plan.Steps[row.Step].Name
	}
	return row
}

// updatedFailing counts pods at the update revision that do not become ready by themselves.
func (d *Detail) updatedFailing() int {
	n := 0
	for _, p := range d.members {
		if p.State == Failing {
			n++
		}
	}
	return n
}

// waiting are gates that a person opens.
var waiting = []string{plan.GatePromote, plan.GateHeld, plan.GatePaused}

func (d *Detail) judge() Health {
	p, now := d.Snapshot.Progress, d.Pods
	switch {
	case p.Halted != "" && p.Aborted:
		return Aborted
	case p.Halted != "":
		return Stuck
	case slices.ContainsFunc(d.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Stuck && slices.Contains(waiting, c.Gate) }):
		return Paused
	case slices.ContainsFunc(d.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Stuck }):
		return Stuck
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
	// Count is how often it was told, First when it was told first.
	Count int
	First time.Time
	// About is the kind and name that it is about, Pod the name where it is a pod.
	About, Pod string
	// Warning is for what should not happen.
	Warning      bool
	Reason, Text string
}
