package view

import (
	"fmt"
	"io"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Diagnosed is a diagnosis with the logs that belong to it.
type Diagnosed struct {
	diagnose.Diagnosis
	// Logs are the last lines of containers that crash.
	Logs []LogTail `json:"logs,omitempty"`
	// Evidence compares new pods with old ones, where a person is asked to promote.
	Evidence *diagnose.Comparison `json:"evidence,omitempty"`
	// Subsets are about each workload of a UnitedDeployment.
	Subsets []Diagnosed `json:"subsets,omitempty"`
	// Placement is where the pods of a WorkloadSpread or UnitedDeployment are; nil for others.
	Placement *diagnose.Placement `json:"placement,omitempty"`
}

// LogTail is the end of a container's log, in the application's own words.
type LogTail struct {
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Lines     []string `json:"lines,omitempty"`
	// Error is why the log cannot be read.
	Error string `json:"error,omitempty"`
}

// Why writes a diagnosis: the answer, the blockers, and what to do.
func Why(w io.Writer, d Diagnosed, st Style) error {
	b := &builder{st: st}
	if d.About != "" { // there is a placement alone
		b.why(d)
	}
	for _, subset := range d.Subsets {
		b.line("")
		b.why(subset)
	}
	if err := b.write(w); err != nil || d.Placement == nil {
		return err
	}
	if d.About != "" {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return Placement(w, d.Placement, false, st)
}

func (b *builder) why(d Diagnosed) {
	st := b.st
	b.line("%s  %s", st.paint(bold, d.About), d.Answer)
	if t := d.Pods; t != nil {
		b.line("  pods: %d of %d updated, %d of these ready; %d ready in all", t.Updated, max(t.Desired, t.Total), t.UpdatedReady, t.Ready)
	}
	if len(d.Causes) > 0 {
		b.line("blocked by:")
	}
	for _, c := range d.Causes {
		b.cause(c)
	}
	if d.Evidence != nil {
		b.evidence(*d.Evidence)
	}
	for _, l := range d.Logs {
		b.tail(l)
	}
	b.sidecars(d.Sidecars)
}

// evidence is how new pods do beside old ones, in two columns.
func (b *builder) evidence(c diagnose.Comparison) {
	rows := append([]diagnose.Row{{What: "evidence", New: "new pods", Old: "old pods"}}, c.Rows()...)
	what, first := 0, 0
	for _, r := range rows {
		what, first = max(what, len(r.What)), max(first, len(r.New))
	}
	for i, r := range rows {
		indent := "  "
		if i == 0 {
			indent = ""
		}
		b.line("%s%-*s  %-*s  %s", indent, what+2-len(indent), r.What, first, r.New, r.Old)
	}
	for _, note := range c.Notes() {
		b.line("  %s", note)
	}
}

func (b *builder) cause(c diagnose.Cause) {
	mark, color := "-", ""
	if c.Blocked {
		mark, color = "!", red
	}
	b.line("  %s", b.st.paint(color, fmt.Sprintf("%s %s: %s", mark, c.Gate, c)))
	if c.Hint != "" {
		b.line("      %s", b.st.paint(faint, "hint: "+b.st.hint(c.Hint)))
	}
}

func (b *builder) tail(l LogTail) {
	if l.Error != "" {
		b.line("the log of container %s in %s cannot be read: %s", l.Container, l.Pod, l.Error)
		return
	}
	b.line("the last lines of container %s in %s, in its own words:", l.Container, l.Pod)
	for _, text := range l.Lines {
		b.line("  | %s", text)
	}
}

// mostSets is how many SidecarSets are named that have nothing to do with a pod.
const mostSets = 5

func (b *builder) sidecars(list []diagnose.Sidecar) {
	if len(list) > 0 {
		b.line("sidecars:")
	}
	strangers := 0
	for _, s := range list {
		absent := ""
		if !s.Injected && !s.Matches {
			if strangers++; strangers > mostSets {
				continue
			}
			absent = "not in the pod: "
		}
		b.line("  %s: %s%s", s.Set, absent, s.Why)
		for _, c := range s.Causes {
			b.cause(c)
		}
	}
	if strangers > mostSets {
		b.line("  and %d more that do not match", strangers-mostSets)
	}
}

// Explanations writes one row per pod template and SidecarSet.
func Explanations(w io.Writer, list []stage.Explanation, st Style) error {
	rows := [][]string{{"TEMPLATE", "SIDECARSET", "INJECTED", "WHY"}}
	for _, e := range list {
		injected := "no"
		if e.Injected {
			injected = "yes"
		}
		rows = append(rows, []string{e.Template.String(), e.SidecarSet, injected, e.Reason})
	}
	if len(list) == 0 {
		_, err := io.WriteString(w, "no pod template met a SidecarSet\n")
		return err
	}
	return st.explained(w, rows, gap)
}
