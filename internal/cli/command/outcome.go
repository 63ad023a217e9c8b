package command

import (
	"errors"
)

// FailedError reports that a rollout, real or simulated, comes to no good end.
type FailedError struct{ Err error }

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Unwrap() error { return e.Err }

// Errors of rollouts that have not come to their end. The command has reported how it
// shows, so they become an exit code and no message.
var (
	// ErrFailed is a rollout that failed or was rolled back: exit code 3.
	ErrFailed = errors.New("the rollout failed")
	// ErrTimedOut is a rollout that the command no longer waits for: exit code 4.
	ErrTimedOut = errors.New("the rollout is not done in time")
	// ErrPaused is a rollout that waits for a person: exit code 5.
	ErrPaused = errors.New("the rollout is paused")
	// ErrInterrupted is a rollout that was left: exit code 130.
	ErrInterrupted = errors.New("interrupted")
)

// Silent reports whether a command has printed everything itself.
func Silent(err error) bool {
	for _, said := range []error{ErrDiffers, ErrFailed, ErrTimedOut, ErrPaused, ErrInterrupted} {
		if errors.Is(err, said) {
			return true
		}
	}
	own, ok := errors.AsType[*CodeError](err)
	return ok && own.Error() == ""
}

// ErrDiffers indicates that a comparison has found differences, which it has shown. It
// makes the exit code 1 and no message.
var ErrDiffers = errors.New("there are differences")

// TroubleError is an error of a command whose exit code 1 means differences: it
// makes the exit code 2.
type TroubleError struct{ Err error }

func (e *TroubleError) Error() string { return e.Err.Error() }

func (e *TroubleError) Unwrap() error { return e.Err }

// CodeError is the end of a program that this one ran, or of a command that it took
// over: the exit code is its own.
type CodeError struct {
	Code int
	// Err is what is left to print; its text is empty where everything has been printed.
	Err error
}

func (e *CodeError) Error() string { return e.Err.Error() }

func (e *CodeError) Unwrap() error { return e.Err }
