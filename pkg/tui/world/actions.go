package world

import (
	"context"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Actions change the cluster, through package apply and nothing else.
type Actions interface {
	// Effect describes what an act would do, or why it cannot be done; nothing is changed.
	Effect(ctx context.Context, act Act) (Effect, error)
	// Do carries it out, and returns a line about what was done. What takes longer continues
	// behind and is seen in the world. It refuses where the act has come to mean
	// something else than what was confirmed.
	Do(ctx context.Context, act Act) (string, error)
	// Shell is a program that takes the terminal over, in a container.
	Shell(namespace, pod, container string) (Program, error)
}

// Act is what a user asks for.
type Act struct {
	Verb Verb
	On   []cluster.Ref
	// Pods and Containers narrow a restart, and nothing else; none means all.
	Pods, Containers []string
	// Value is a number of replicas, a partition or a revision.
	Value string
	// Precondition is that of the effect that was confirmed; nil is any.
	Precondition map[cluster.Ref]string
}

// Effect is what an act would do.
type Effect struct {
	// Changes are the numbers of it, by workload; a question is made of them.
	Changes map[cluster.Ref]plan.Consequence
	// Lines say what else there is to know, such as warnings.
	Lines []string
	// Precondition is what must not have changed until it is done: whether pods of a rollout
	// stop or go on, which step is over. It is for comparing alone.
	Precondition map[cluster.Ref]string
}

// Verb is what is done.
type Verb string

// The verbs; those with a value say which.
const (
	Promote Verb = "promote"
	// PauseResume pauses what runs and resumes what is paused.
	PauseResume Verb = "pause"
	// Undo goes back to a revision; without a value to the one before.
	Undo    Verb = "undo"
	Abort   Verb = "abort"
	Restart Verb = "restart"
	// Scale needs the number of pods.
	Scale Verb = "scale"
	// Partition needs the number or percentage of pods that stay old.
	Partition Verb = "partition"
)

// Verbs returns all verbs. Each has a key, and an action on clusters and in the demo.
func Verbs() []Verb { return []Verb{Promote, PauseResume, Undo, Abort, Restart, Scale, Partition} }

// Program is what bubbletea can hand the terminal to.
type Program interface {
	Run() error
	SetStdin(io.Reader)
	SetStdout(io.Writer)
	SetStderr(io.Writer)
}
