package plan

import "errors"

// Errors that whoever carries out an [Action] wraps.
var (
	// ErrConflict is a precondition that did not hold: look again.
	ErrConflict = errors.New("the object has changed")
	// ErrRefused is a request that admission or a budget turned down for now.
	ErrRefused = errors.New("refused")
	// ErrUnavailable is a cluster that does not answer, or not now.
	ErrUnavailable = errors.New("the cluster does not answer")
	// ErrTaken is a rollout that somebody else drives.
	ErrTaken = errors.New("another process runs the rollout")
	// ErrNotFound is an object that is not there.
	ErrNotFound = errors.New("not found")
	// ErrNoRollout is a workload of which no rollout is recorded.
	ErrNoRollout = errors.New("no rollout is recorded")
)
