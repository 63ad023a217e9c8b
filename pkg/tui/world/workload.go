package world

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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
	// Step is the index of the present step of the rollout on record, Steps how many
	// it has; 0 where there is none. StepName is the present step's.
	Step, Steps int
	StepName    string
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
	// Stuck: it does not get on by itself.
	Stuck
)

var healthWords = [...]string{"unknown", "healthy", "progressing", "aborted", "paused", "degraded", "stuck"}

// String is the word.
func (h Health) String() string { return healthWords[h] }

// Faulty reports whether somebody should look.
func (h Health) Faulty() bool { return h >= Paused }
