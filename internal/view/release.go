package view

import (
	"io"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// Release is the status of a Rollout of Kruise Rollout.
type Release struct {
	Name      string        `json:"name"`
	Namespace string        `json:"namespace"`
	Workload  string        `json:"workload"`
	Style     string        `json:"style"`
	Phase     string        `json:"phase"`
	Status    string        `json:"status"`
	Message   string        `json:"message,omitempty"`
	Step      int           `json:"step"`
	State     string        `json:"state,omitempty"`
	Waits     bool          `json:"waitsForApproval"`
	Cancelled bool          `json:"cancelled"`
	Updated   int64         `json:"updatedReplicas"`
	Ready     int64         `json:"updatedReadyReplicas"`
	Steps     []ReleaseStep `json:"steps"`
	// Next is what a person would type now; empty where nothing is asked of them.
	Next string `json:"next,omitempty"`
}

// ReleaseStep is a step of a Release, in its spec's words.
type ReleaseStep struct {
	Replicas string `json:"replicas"`
	Traffic  string `json:"traffic,omitempty"`
	Pause    string `json:"pause"`
}

// Write writes a Release: its steps, its status, and what to do.
func (r Release) Write(w io.Writer, st Style) error {
	b := &builder{st: st}
	b.line("%s of %s  %s", st.paint(bold, r.Name), r.Workload, r.Status)
	for i, s := range r.Steps {
		mark := " "
		if i+1 == r.Step && r.State != "Completed" {
			mark = ">"
		}
		text := mark + " " + strconv.Itoa(i+1) + "  " + s.Replicas + " of the pods"
		if s.Traffic != "" {
			text += ", " + s.Traffic + " of the traffic"
		}
		b.line("  %s, stays %s", text, s.Pause)
	}
	b.line("  %s updated, %d ready", counted.Of(int(r.Updated), "pod"), r.Ready)
	if r.Message != "" {
		b.line("  %s", st.paint(yellow, r.Message))
	}
	if r.Next != "" {
		b.line("  next: %s", st.hint(r.Next))
	}
	return b.write(w)
}
