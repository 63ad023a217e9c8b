package view

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Ending is how one of several rollouts ended.
type Ending struct{ Name, Outcome string }

// Endings writes how several rollouts ended.
func Endings(w io.Writer, list []Ending) error {
	rows := [][]string{{"WORKLOAD", "ENDED"}}
	for _, e := range list {
		rows = append(rows, []string{e.Name, e.Outcome})
	}
	return table(w, rows)
}

// Standings writes how several workloads stand, each in a line.
func Standings(w io.Writer, list []RolloutStatus) error {
	rows := [][]string{{"WORKLOAD", "DRIVER", "STANDS", "UPDATED", "READY", "REASON"}}
	for i := range list {
		s := &list[i]
		reason := s.Decision.Reason
		if s.Decision.Verb == plan.Done {
			reason = ""
		}
		rows = append(rows, []string{
			s.Name, string(s.Plan.Driver), s.headline(), fmt.Sprintf("%d/%d", s.Tally.Updated, s.Tally.Desired), strconv.Itoa(s.Tally.UpdatedReady), orDash(reason),
		})
	}
	return table(w, rows)
}
