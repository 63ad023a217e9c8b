// Package world is what the terminal interface shows: the state of a cluster at one
// moment, as plain data, and the two doors to it, [Source] and [Actions]. Every source works it
// out from objects by the same functions. It knows no screen, no client and no clock.
package world

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// World is all that is shown. It never changes: a source makes a new one, which shares
// what has stayed the same. Lists are sorted by namespace, kind and name.
type World struct {
	// Version rises with every change, and with Now.
	Version int64
	// Now is the time in the cluster, At when the state was heard of: they differ
	// while the connection is lost.
	Now, At time.Time
	Where   Where
	Link    Link
	// Loaded is false until the first list is complete; Loading says what is missing.
	Loaded  bool
	Loading string

	Workloads []*Workload
	// Namespaces are the names that one may look at instead; none if they are not known.
	Namespaces []string
	// Detail is of the workload that was wanted; nil until it is there.
	Detail *Detail
	// Unseen is why the detail that is wanted is not there, or not as of now; empty while
	// all is well.
	Unseen string
	// Sidecars and Distributions are nil until they are wanted and read.
	Sidecars      *Sidecars
	Distributions *Distributions
	// Running are rollouts that this very program carries out: leaving it ends them.
	Running []cluster.Ref
}

// Find returns the row of a workload, nil without one.
func (w *World) Find(ref cluster.Ref) *Workload {
	for _, row := range w.Workloads {
		if row.Ref == ref {
			return row
		}
	}
	return nil
}

// Of returns the detail of a workload, nil where it is another's or not there yet.
func (w *World) Of(ref cluster.Ref) *Detail {
	if w.Detail == nil || w.Detail.Ref != ref {
		return nil
	}
	return w.Detail
}

// Gone reports whether a workload that was asked for does not exist.
func (w *World) Gone(ref cluster.Ref) bool {
	return w.Loaded && w.Find(ref) == nil && w.Of(ref) == nil && w.Unseen == ""
}

// Where is the place that is looked at.
type Where struct {
	Context string
	// InCluster is set for a process that uses the ServiceAccount of its pod: the context is
	// shown, and is in no kubeconfig.
	InCluster bool
	// Namespace is empty for all of them.
	Namespace string
	// Production asks for a name before anything is changed.
	Production bool
	// Simulated is a cluster in memory.
	Simulated bool
}

// Link is how the connection to the cluster is.
type Link struct {
	// Lost is why nothing is heard any more; empty while all is well.
	Lost string
}

// Want is what a screen shows beyond the list of workloads.
type Want struct {
	// Workload is the one that is wanted with its pods; the zero value is none.
	Workload      cluster.Ref
	Sidecars      bool
	Distributions bool
}

// Workload is one row of the list.
type Workload struct {
	cluster.Ref
	Driver  plan.Driver
	Labels  map[string]string
	Created time.Time
	Health  Health
	// Why is the line that matters, of [diagnose.Diagnosis].
	Why string
	// Pods counts them; Failing are updated ones that do not become ready by themselves.
	Pods    plan.Tally
	Failing int
	// Step is the index of the current step of the recorded rollout, Steps how many
	// it has; 0 where there is none. StepName is the present step's.
	Step, Steps int
	StepName    string
	// Approval is true while the rollout waits to be promoted. Toggle is what the key that pauses and resumes comes to;
	// empty where there is nothing to pause.
	Approval bool
	Toggle   plan.Transition
}

// Health says in one word how a workload is.
type Health uint8

// The healths, the more urgent the later.
const (
	// Unknown: not enough is known to say.
	Unknown Health = iota
	// Healthy: nothing is to be done.
	Healthy
	// Progressing: pods are being updated or become ready.
	Progressing
	// Aborted: a person has ended the rollout before all pods were updated.
	Aborted
	// Paused: a person has to promote, resume or decide.
	Paused
	// Degraded: pods are not ready, and nothing is rolled out.
	Degraded
	// Blocked: it does not continue by itself.
	Blocked
)

var healthWords = [...]string{"unknown", "healthy", "progressing", "aborted", "paused", "degraded", "blocked"}

// String is the word.
func (h Health) String() string { return healthWords[h] }

// Faulty reports whether it needs attention.
func (h Health) Faulty() bool { return h >= Paused }
