package view

import (
	"fmt"
	"io"
	"slices"
)

// Ending is how one of several rollouts ended.
type Ending struct{ Name, Outcome string }

// Endings writes how several rollouts ended.
func Endings(w io.Writer, list []Ending) error {
	rows := [][]string{{"WORKLOAD", "RESULT"}}
	for _, e := range list {
		rows = append(rows, []string{e.Name, e.Outcome})
	}
	return table(w, rows)
}

// Standings writes the status of several workloads, each in a line; with their namespaces
// where these are given. READY is about all pods, as it is in the terminal interface:
// whether a workload serves counts more than whether its new pods do.
func Standings(w io.Writer, list []RolloutStatus, st Style) error {
	rows := [][]string{{"WORKLOAD", "DRIVER", "STATUS", "UPDATED", "READY", "REASON"}}
	for i := range list {
		s, status := &list[i], list[i].status()
		rows = append(rows, []string{
			s.Name, string(s.Plan.Driver), status.Head(), of(s.Tally.Updated, s.Tally.Desired), of(s.Tally.Ready, s.Tally.Desired), orDash(status.Reason),
		})
	}
	if slices.ContainsFunc(list, func(s RolloutStatus) bool { return s.Namespace != "" }) {
		rows[0] = slices.Insert(rows[0], 0, "NAMESPACE")
		for i := range list {
			rows[i+1] = slices.Insert(rows[i+1], 0, orDash(list[i].Namespace))
		}
	}
	return st.table(w, rows)
}

// of is how many pods of how many are something.
func of(n, all int) string { return fmt.Sprintf("%d/%d", n, all) }
