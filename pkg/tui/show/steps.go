package show

import "github.com/kubectl-kruise/kubectl-kruise/pkg/tui/draw"

// StepState is how far a step of a rollout is.
type StepState uint8

// The states of steps.
const (
	StepNext StepState = iota
	StepNow
	// StepPaused waits for approval, or was paused by a user.
	StepPaused
	StepAborted
	StepFailed
	StepDone
)

// StepMark is the symbol of a step, on the screens and on the command line.
func StepMark(s draw.Symbols, state StepState) (string, draw.Style) {
	switch state {
	case StepNow:
		return s.Now, draw.Busy
	case StepPaused:
		return s.Pause, draw.Wait
	case StepAborted:
		return s.Aborted, draw.Outdated
	case StepFailed:
		return s.Blocked, draw.Bad
	case StepDone:
		return s.Done, draw.Good
	}
	return s.Next, draw.Faint
}

// StepsAround returns which of n steps are shown if only some have room: the current one, one
// before it where there is room for two, and those that follow.
func StepsAround(n, current, room int) (from, to int) {
	room = max(min(room, n), 0)
	from = max(min(current-min(max(room-1, 0), 1), n-room), 0)
	return from, from + room
}
