package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// GroupMember is one rollout of a group, with its status or as it is planned.
type GroupMember struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Wave      int    `json:"wave"`
	DependsOn string `json:"dependsOn,omitempty"`
	// Phase and Reason are its status.
	Phase  string `json:"phase"`
	Reason string `json:"reason,omitempty"`
}

// GroupStatus is the status of a group of rollouts.
type GroupStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outcome is progressing, waiting, completed, rolled back, failed or aborted.
	Outcome string        `json:"outcome"`
	Reason  string        `json:"reason,omitempty"`
	Paused  string        `json:"paused,omitempty"`
	Aborted string        `json:"aborted,omitempty"`
	Holder  string        `json:"holder,omitempty"`
	Digest  string        `json:"digest,omitempty"`
	Members []GroupMember `json:"members"`
}

// Group writes the status of a group of rollouts.
func Group(w io.Writer, s GroupStatus, st Style) error {
	what := "group " + s.Name
	if s.Name == "" {
		what = "all workloads"
	}
	line := []string{fmt.Sprintf("%s: %s: %s", what, s.Outcome, s.Reason)}
	for _, more := range []struct{ what, by string }{{"paused", s.Paused}, {"aborted", s.Aborted}, {"executor", s.Holder}} {
		if more.by != "" {
			line = append(line, more.what+" "+strings.TrimPrefix(more.by, "by "))
		}
	}
	if _, err := fmt.Fprintln(w, strings.Join(line, "; ")); err != nil {
		return err
	}
	list := s.Members
	rows := [][]string{{"WORKLOAD", "STATUS", "REASON"}}
	for _, m := range list {
		rows = append(rows, []string{m.Name, m.Phase, orDash(m.Reason)})
	}
	if slices.ContainsFunc(list, func(m GroupMember) bool { return m.Namespace != list[0].Namespace }) {
		withColumn(rows, 0, "NAMESPACE", func(i int) string { return list[i].Namespace })
	}
	withWaves(rows, list)
	return st.table(w, rows)
}

// withWaves puts the waves before a table, where these are not all the same.
func withWaves(rows [][]string, list []GroupMember) {
	if slices.ContainsFunc(list, func(m GroupMember) bool { return m.Wave != list[0].Wave }) {
		withColumn(rows, 0, "WAVE", func(i int) string { return strconv.Itoa(list[i].Wave) })
	}
}

// mostNodes is how many nodes a plan of a group names.
const mostNodes = 3

// GroupPlan writes what a group will do: when each member starts, and the most pods that are
// unavailable at a time.
func GroupPlan(w io.Writer, list []GroupMember, line simulate.GroupTimeline, st Style) error {
	rows := [][]string{{"WORKLOAD", "STARTS AFTER", "TAKES", "DEPENDS ON"}}
	for i, m := range list {
		r := line.Runs[i]
		rows = append(rows, []string{
			m.Name, r.Begin.Round(time.Second).String(), (r.End - r.Begin).Round(time.Second).String(), orDash(m.DependsOn),
		})
	}
	withWaves(rows, list)
	if err := st.table(w, rows); err != nil {
		return err
	}
	b := &builder{}
	b.line("estimate: %s in all, at most %s at a time, at most %s unavailable",
		line.Duration.Round(time.Second), counted.Of(line.MostActive, "rollout"), counted.Of(line.MostUnavailable, "pod"))
	b.peaks(line.Peaks)
	return b.write(w)
}

// peaks writes the most unavailable pods of budgets, of namespaces and of the worst nodes.
func (b *builder) peaks(list []simulate.Peak) {
	var nodes []simulate.Peak
	for _, p := range list {
		switch {
		case p.Kind == "node":
			nodes = append(nodes, p)
		case p.Allowed >= 0:
			b.line("  peak in %s: %d unavailable of %d allowed", p, p.Unavailable, p.Allowed)
		default:
			b.line("  peak in %s: %d unavailable", p, p.Unavailable)
		}
	}
	slices.SortStableFunc(nodes, func(a, b simulate.Peak) int { return b.Unavailable - a.Unavailable })
	for _, p := range nodes[:min(mostNodes, len(nodes))] {
		b.line("  peak on %s: %s not ready or terminating", p, counted.Of(p.Unavailable, "pod"))
	}
	if len(nodes) > 0 {
		b.line("  nodes also count pods that start or terminate: these may be more than the unavailable pods")
	}
}

// GroupLines prints a group for a terminal or a log: a line with a time for each thing that
// changes, with the name of its workload, and one when nothing does.
type GroupLines struct {
	Out   io.Writer
	Style Style
	// Rollout names the workloads.
	Rollout plan.Rollout

	last   time.Time
	status string
	phases map[string]string
	steps  map[event.Workload]int
}

// Event prints one event of one rollout.
func (l *GroupLines) Event(e event.Event) {
	name := l.Rollout.MemberName(cluster.Ref{Kind: e.Workload.Kind, Namespace: e.Workload.Namespace, Name: e.Workload.Name})
	switch e.Type {
	case event.Opened:
		if l.steps == nil {
			l.steps = map[event.Workload]int{}
		}
		l.steps[e.Workload] = len(e.Plan.Steps)
	case event.StepBegun:
		l.line(e.Time, "", "%s: step %d/%d: %s", name, e.Step+1, l.steps[e.Workload], e.Text)
	case event.Refused:
		l.line(e.Time, yellow, "%s: refused for now: %s", name, e.Text)
	case event.Paused:
		l.line(e.Time, yellow, "%s: %s", name, blockersText(e))
	case event.Halted:
		l.line(e.Time, red, "%s: failed: %s", name, blockersText(e))
	case event.RollingBack:
		l.line(e.Time, yellow, "%s: rolling back, because %s", name, e.Text)
	case event.Ended:
		if e.Outcome == event.Completed || e.Outcome == event.RolledBack {
			l.line(e.Time, green, "%s: %s", name, e.Outcome)
		}
	}
}

// Stands prints the status of the group if it has changed.
func (l *GroupLines) Stands(at time.Time, s GroupStatus) {
	for _, m := range s.Members {
		key := m.Namespace + "/" + m.Name
		if m.Phase == "failed" && l.phases[key] != m.Phase && m.Reason != "" {
			l.line(at, red, "%s: failed: %s", m.Name, m.Reason)
		}
		if l.phases == nil {
			l.phases = map[string]string{}
		}
		l.phases[key] = m.Phase
	}
	if text := fmt.Sprintf("group %s: %s", s.Name, s.Reason); text != l.status {
		l.status = text
		l.line(at, bold, "%s", text)
	}
}

// Beat reports that the group is still carried out.
func (l *GroupLines) Beat(now time.Time) {
	if l.status != "" && now.Sub(l.last) >= heartbeat {
		l.line(now, "", "%s", l.status)
	}
}

func (l *GroupLines) line(at time.Time, color, format string, args ...any) {
	l.last = at
	_, _ = fmt.Fprintln(l.Out, at.Local().Format(time.TimeOnly)+" "+l.Style.paint(color, fmt.Sprintf(format, args...)))
}

// StatusLines writes the status of several workloads, each in a line; with their namespaces
// where these are given. READY is about all pods, as it is in the terminal interface:
// whether a workload serves counts more than whether its new pods do.
func StatusLines(w io.Writer, list []RolloutStatus, st Style) error {
	rows := [][]string{{"WORKLOAD", "DRIVER", "STATUS", "UPDATED", "READY", "REASON"}}
	for i := range list {
		s, status := &list[i], list[i].status()
		rows = append(rows, []string{
			s.Name, string(s.Plan.Driver), status.Head(), of(s.Tally.Updated, s.Tally.Desired), of(s.Tally.Ready, s.Tally.Desired), orDash(status.Reason),
		})
	}
	if slices.ContainsFunc(list, func(s RolloutStatus) bool { return s.Namespace != "" }) {
		withColumn(rows, 0, "NAMESPACE", func(i int) string { return list[i].Namespace })
	}
	return st.table(w, rows)
}

// of is how many pods of how many are something.
func of(n, all int) string { return fmt.Sprintf("%d/%d", n, all) }
