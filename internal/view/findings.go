package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
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
	for _, s := range []finding.Severity{finding.Error, finding.Lost, finding.Approximate, finding.Exact} {
		if err := severity(w, list, s, st); err != nil {
			return err
		}
	}
	return nil
}

// FindingIDs writes a line for each ID of the findings that are neither exact nor accepted, gravest
// first, with how many there are, their objects and what they say. long says how to see each.
func FindingIDs(w io.Writer, list []finding.Finding, long string, st Style) error {
	written := false
	for _, s := range []finding.Severity{finding.Error, finding.Lost, finding.Approximate} {
		byID := map[string][]finding.Finding{}
		var ids []string
		for _, f := range list {
			if f.Severity == s && !f.Accepted {
				if byID[f.ID] == nil {
					ids = append(ids, f.ID)
				}
				byID[f.ID] = append(byID[f.ID], f)
			}
		}
		for _, id := range ids {
			written = true
			line := fmt.Sprintf("%s %s (%d): %s: %s\n", st.paint(colors[s], string(s)), id, len(byID[id]), text.Line(objectsOf(byID[id])), text.Line(messageOf(byID[id])))
			if err := writePage(w, line); err != nil {
				return err
			}
		}
	}
	if !written {
		return nil
	}
	return writePage(w, "hint: "+long+"\n")
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

func severity(w io.Writer, list []finding.Finding, s finding.Severity, st Style) error {
	groups := group(list, s)
	if len(groups) == 0 {
		return nil
	}
	if err := writePage(w, st.paint(colors[s], strings.ToUpper(string(s)))+"\n"); err != nil {
		return err
	}
	for _, g := range groups {
		if err := g.write(w, st); err != nil {
			return err
		}
	}
	return nil
}

// same are findings that say the same of several objects.
type same struct {
	finding.Finding
	where []place
}

type place struct {
	object resource.ID
	at     string
}

func group(list []finding.Finding, s finding.Severity) []*same {
	index := map[string]*same{}
	var out []*same
	for _, f := range list {
		if f.Severity != s {
			continue
		}
		key := f.ID + "\x00" + f.Field + "\x00" + f.Message
		g := index[key]
		if g == nil {
			g = &same{Finding: f}
			index[key] = g
			out = append(out, g)
		}
		g.where = append(g.where, place{object: f.Object, at: at(f)})
	}
	return out
}

func at(f finding.Finding) string {
	if f.File == "" {
		return ""
	}
	return resource.Origin{File: f.File, Line: f.Line}.String()
}

// most is how many objects of one group are named; the report has all.
const most = 3

func (g *same) write(w io.Writer, st Style) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "  %s\n", text.Line(g.Message))
	if g.Field != "" {
		fmt.Fprintf(&b, "    field:  %s\n", text.Line(g.Field))
	}
	for i, p := range g.where {
		if i == most && len(g.where) > most+1 {
			fmt.Fprintf(&b, "            and %s\n", counted.Of(len(g.where)-most, "more object"))
			break
		}
		label := "    object: "
		if i > 0 {
			label = "            "
		}
		b.WriteString(label + text.Line(p.object.String()))
		if p.at != "" {
			b.WriteString("  " + st.paint(faint, text.Line(p.at)))
		}
		b.WriteByte('\n')
	}
	if g.Action != "" {
		fmt.Fprintf(&b, "    do:     %s\n", text.Line(g.Action))
	}
	fmt.Fprintf(&b, "    %s\n", st.paint(faint, "["+g.ID+"]"))
	return writePage(w, b.String())
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
