package draw

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

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
func StepMark(s Symbols, state StepState) (string, Style) {
	switch state {
	case StepNow:
		return s.Now, Busy
	case StepPaused:
		return s.Pause, Wait
	case StepAborted:
		return s.Aborted, Outdated
	case StepFailed:
		return s.Blocked, Bad
	case StepDone:
		return s.Done, Good
	}
	return s.Next, Faint
}

// StepsAround returns which of n steps are shown if only some have room: the current one, one
// before it where there is room for two, and those that follow.
func StepsAround(n, current, room int) (from, to int) {
	room = max(min(room, n), 0)
	from = max(min(current-min(max(room-1, 0), 1), n-room), 0)
	return from, from + room
}

// Pods are the pods of a workload as a bar, in the symbols of the grid of pods: new ones,
// new ones that start, new ones that fail, old ones, old ones that are not ready, and those
// that are missing.
func Pods(s Symbols, n plan.Tally, failing, width int) Line {
	old := max(n.Total-n.Updated, 0)
	oldReady := min(max(n.Ready-n.UpdatedReady, 0), old)
	failing = min(failing, max(n.Updated-n.UpdatedReady, 0))
	return Bar(
		width,
		Part{Count: n.UpdatedReady, Symbol: s.New, Style: Updated},
		Part{Count: n.Updated - n.UpdatedReady - failing, Symbol: s.NewDown, Style: Busy},
		Part{Count: failing, Symbol: s.Blocked, Style: Bad},
		Part{Count: oldReady, Symbol: s.Old, Style: Outdated},
		Part{Count: old - oldReady, Symbol: s.Down, Style: Down},
		Part{Count: n.Desired - n.Total, Symbol: s.Empty, Style: Faint},
	)
}

// Value is a value of a field in one line: text as it is, everything else as JSON.
func Value(v any) string {
	if text, ok := v.(string); ok && text != "" && !strings.ContainsAny(text, "\n\t\r\x1b") {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Image is an image without its registry and folders.
func Image(image string) string { return image[strings.LastIndexByte(image, '/')+1:] }

// Tag is what tells images of one repository apart.
func Tag(image string) string {
	if _, digest, ok := strings.Cut(image, "@sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	name := Image(image)
	if _, tag, ok := strings.Cut(name, ":"); ok {
		return tag
	}
	return name
}

// Digest is the part of an image ID that people compare; what is no digest stays whole.
func Digest(id string) string {
	if _, digest, ok := strings.Cut(id, "sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	return id
}
