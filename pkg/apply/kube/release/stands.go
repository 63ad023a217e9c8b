package release

import "fmt"

// Stands says in a few words where a Rollout is.
func (r *Rollout) Stands() string {
	switch {
	case r.Done() && r.Cancelled:
		return "the last release was rolled back"
	case r.Done():
		return "no release is in progress"
	case !r.Holds() || r.Index == 0:
		return "phase " + orUnknown(r.Phase)
	}
	text := fmt.Sprintf("step %d of %d, %s", r.Index, len(r.Steps), r.State)
	switch {
	case r.Paused:
		text += "; paused"
	case r.Waits():
		text += ": waits to be approved"
	case r.Reason != "" && r.Reason != "InRolling":
		text += "; " + r.Reason
	}
	return text
}

// Next is the verb of ours that has a Rollout go on which waits for a person, "" for
// one that does not.
func (r *Rollout) Next() string {
	switch {
	case !r.Waits():
		return ""
	case r.Paused:
		return "resume"
	}
	return "approve"
}

func orUnknown(phase string) string {
	if phase == "" {
		return "unknown: its controller has not seen it yet"
	}
	return phase
}
