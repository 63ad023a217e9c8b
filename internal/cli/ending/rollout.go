package ending

import "errors"

// Errors of rollouts that have not come to their end. The command has told how it
// stands, so they make an exit code and no message.
var (
	// ErrFailed is a rollout that halted or was rolled back: exit code 3.
	ErrFailed = errors.New("the rollout failed")
	// ErrTimedOut is a rollout that the command no longer waits for: exit code 4.
	ErrTimedOut = errors.New("the rollout is not done in time")
	// ErrPaused is a rollout that waits for a person: exit code 5.
	ErrPaused = errors.New("the rollout is paused")
	// ErrInterrupted is a rollout that was left: exit code 130.
	ErrInterrupted = errors.New("interrupted")
)

// Silent reports whether a command has said everything itself.
func Silent(err error) bool {
	for _, said := range []error{ErrDiffers, ErrFailed, ErrTimedOut, ErrPaused, ErrInterrupted} {
		if errors.Is(err, said) {
			return true
		}
	}
	own, ok := errors.AsType[*CodeError](err)
	return ok && own.Error() == ""
}
