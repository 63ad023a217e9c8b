package world

import (
	"context"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// Source shows a cluster. Its methods may be called from several goroutines.
//
// It is asked for states, not for changes: a late caller gets the newest state at
// once, so that a flood of changes costs frames and no state is lost.
type Source interface {
	// Await returns the world once there is one that is newer than the version, with
	// what is wanted, or as soon as that is there; since 0 returns at once. A second
	// later it returns in any case, so that times go on, also while the connection is
	// lost. An error is that of the context, or final.
	Await(ctx context.Context, since int64, want Want) (*World, error)
	// Manifest is an object as YAML, with the values of Secrets masked.
	Manifest(ctx context.Context, ref cluster.Ref) (string, error)
	// Describe is an object as text, as `kubectl describe` has it.
	Describe(ctx context.Context, ref cluster.Ref) (string, error)
	// Logs opens the log of a container.
	Logs(ctx context.Context, q LogQuery) (Log, error)
}

// Times of the states of a source: what changes together is seen together, and after a state
// that took long to work out a source rests for a multiple of that time.
const (
	together  = 100 * time.Millisecond
	restShare = 4
)

// Rest is how long a source waits after a state that it took some time to work out. A state goes
// over all pods, so it covers all changes since the one before: however many there are, and
// however many pods, the source uses at most a fifth of a core.
func Rest(took time.Duration) time.Duration { return max(together, restShare*took) }

// Mover is a Source that can look at another namespace.
type Mover interface {
	// Move looks at a namespace from now on, "" for all of them. It returns when there
	// is something to show; after an error everything is as it was.
	Move(ctx context.Context, namespace string) error
}

// LogQuery selects which log.
type LogQuery struct {
	Namespace, Pod, Container string
	// Previous is the container before its last restart.
	Previous bool
	// Follow waits for more at the end.
	Follow bool
	// Tail is how many lines from the end; 0 is all.
	Tail int
}

// Log is an open log; it ends with its context.
type Log interface {
	// Next waits for lines and returns all that are there; io.EOF is the end.
	Next() ([]string, error)
}

// EvidenceSource is a [Source] that can compare the new pods of a rollout with the old ones.
type EvidenceSource interface {
	// Evidence compares them; parts that cannot be read in time, or at all, are named in
	// the answer. The error is for a workload that cannot be found.
	Evidence(ctx context.Context, ref cluster.Ref) (diagnose.Comparison, error)
}
