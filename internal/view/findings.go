package view

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Findings writes list grouped by severity, gravest first, and equal findings
// of several objects together. Exact and accepted ones are written only with all.
func Findings(w io.Writer, list []finding.Finding, all bool, st Style) error {
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(f finding.Finding) bool { return f.Accepted || f.Severity == finding.Exact })
	}
	b := &builder{st: st}
	type text struct{ id, field, message string }
	for _, same := range bySeverity(list) {
		b.line("%s", st.paint(colors[same[0].Severity], strings.ToUpper(string(same[0].Severity))))
		for _, group := range Grouped(same, func(f finding.Finding) text { return text{f.ID, f.Field, f.Message} }) {
			b.findings(group)
		}
	}
	return b.write(w)
}

// bySeverity has the findings of each severity, gravest first.
func bySeverity(list []finding.Finding) [][]finding.Finding {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	return Grouped(list, func(f finding.Finding) finding.Severity { return f.Severity })
}

// FindingIDs writes a line for each ID of the findings that are neither exact nor accepted, gravest
// first, with how many there are, their objects and what they say. long says how to see each.
func FindingIDs(w io.Writer, list []finding.Finding, long string, st Style) error {
	list = slices.DeleteFunc(slices.Clone(list), func(f finding.Finding) bool { return f.Accepted || f.Severity == finding.Exact })
	if len(list) == 0 {
		return nil
	}
	b := &builder{st: st}
	for _, same := range bySeverity(list) {
		for _, group := range Grouped(same, func(f finding.Finding) string { return f.ID }) {
			s := group[0].Severity
			b.line("%s %s (%d): %s: %s", st.paint(colors[s], string(s)), group[0].ID, len(group), objectsOf(group), messageOf(group))
		}
	}
	b.line("hint: %s", long)
	return b.write(w)
}

// messageOf is what findings of one ID say: the text of its rule where they say different things.
func messageOf(list []finding.Finding) string {
	for _, f := range list[1:] {
		if f.Message != list[0].Message {
			return finding.Lookup(f.ID).Becomes
		}
	}
	return list[0].Message
}

// objectsOf names the first objects that findings are about, the kind once for those that follow
// each other.
func objectsOf(list []finding.Finding) string {
	var ids []resource.ID
	for _, f := range list {
		if !slices.Contains(ids, f.Object) {
			ids = append(ids, f.Object)
		}
	}
	var names []string
	for i, id := range ids {
		if i == most && len(ids) > most+1 {
			names = append(names, counted.Of(len(ids)-most, "more object"))
			break
		}
		name := id.String()
		if i > 0 && ids[i-1].Kind == id.Kind {
			name = strings.TrimPrefix(name, id.Kind+" ")
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

var colors = map[finding.Severity]string{finding.Error: red, finding.Lost: red, finding.Approximate: yellow, finding.Exact: green}

// most is how many objects of one group are named; the report has all.
const most = 3

// findings writes findings that say the same of several objects.
func (b *builder) findings(list []finding.Finding) {
	f := list[0]
	b.line("  %s", f.Message)
	if f.Field != "" {
		b.line("    field:  %s", f.Field)
	}
	label := "    object: "
	for i, of := range list {
		if i == most && len(list) > most+1 {
			b.line("            and %s", counted.Of(len(list)-most, "more object"))
			break
		}
		at := ""
		if of.File != "" {
			at = "  " + b.st.paint(faint, resource.Origin{File: of.File, Line: of.Line}.String())
		}
		b.line("%s%s%s", label, of.Object, at)
		label = "            "
	}
	if f.Action != "" {
		b.line("    do:     %s", f.Action)
	}
	b.line("    %s", b.st.paint(faint, "["+f.ID+"]"))
}

// Summary is one line that counts what was made and found.
func Summary(in, out int, list []finding.Finding) string {
	return Counted(fmt.Sprintf("rendered %s into %d", counted.Of(in, "object"), out), list)
}

// Counted is a line that says what was done, and counts what was found.
func Counted(line string, list []finding.Finding) string {
	count := map[finding.Severity]int{}
	accepted := 0
	for _, f := range list {
		if f.Accepted {
			accepted++
			continue
		}
		count[f.Severity]++
	}
	parts := []string{}
	for _, s := range []finding.Severity{finding.Error, finding.Lost, finding.Approximate, finding.Exact} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	if accepted > 0 {
		parts = append(parts, fmt.Sprintf("%d accepted", accepted))
	}
	if len(parts) > 0 {
		line += "; findings: " + strings.Join(parts, ", ")
	}
	return line
}

const reportKind = "RenderReport"

// Report is what --report writes: everything that stderr says, for machines.
type Report struct {
	APIVersion   string              `json:"apiVersion"`
	Kind         string              `json:"kind"`
	Input        int                 `json:"inputObjects"`
	Output       int                 `json:"outputObjects"`
	Worst        string              `json:"worst"`
	Findings     []finding.Finding   `json:"findings"`
	Explanations []stage.Explanation `json:"explanations,omitempty"`
}

// NewReport gathers a render's results. in and out count objects.
func NewReport(in, out int, findings []finding.Finding, explained []stage.Explanation) Report {
	return Report{
		APIVersion: plan.APIVersion, Kind: reportKind, Input: in, Output: out, Worst: string(finding.Worst(findings)),
		Findings: append([]finding.Finding{}, findings...), Explanations: explained,
	}
}

// JSON returns the report indented, with a final newline.
func (r Report) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// ReadBaseline returns the findings of a report that --report wrote.
func ReadBaseline(b []byte) ([]finding.Finding, error) {
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	if r.Kind != reportKind {
		return nil, fmt.Errorf("not a %s, which render --report writes", reportKind)
	}
	return r.Findings, nil
}
