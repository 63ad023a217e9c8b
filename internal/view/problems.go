package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// Problems are what lint found, as every form of its output tells them.
type Problems []lint.Problem

var problemColors = map[lint.Severity]string{lint.Error: red, lint.Warning: yellow, lint.Info: faint}

// Text writes one problem after the other, each with its place, rule and hint.
func (p Problems) Text(w io.Writer, st Style) error {
	for _, one := range p {
		if _, err := fmt.Fprintf(text.Writer(w), "%s%s %s  [%s]\n", text.Line(spot(one)), st.paint(problemColors[one.Severity], string(one.Severity)+":"), text.Line(said(one)), one.Rule); err != nil {
			return err
		}
		if one.Hint == "" {
			continue
		}
		if _, err := fmt.Fprintf(text.Writer(w), "  hint: %s\n", text.Line(one.Hint)); err != nil {
			return err
		}
	}
	return nil
}

// fileless reports a problem of an object that stands in no file: it goes by its name.
func fileless(p lint.Problem) bool { return p.File == "" && p.Line == 0 }

// objectless reports a problem of a file, in which no object could be made out.
func objectless(p lint.Problem) bool { return p.Object.Kind == "" && p.Object.Name == "" }

// spot is FILE:LINE, as editors and terminals make a link of it; FILE alone where it
// cannot be read at all.
func spot(p lint.Problem) string {
	switch {
	case fileless(p):
		return ""
	case p.Line == 0:
		return p.File + ": "
	}
	return fmt.Sprintf("%s:%d: ", cmp.Or(p.File, "-"), p.Line)
}

// said is what is wrong with which field of which object.
func said(p lint.Problem) string {
	var parts []string
	if !objectless(p) {
		parts = append(parts, p.Object.String())
	}
	if p.Field != "" {
		parts = append(parts, p.Field)
	}
	return strings.Join(append(parts, p.Err.Error()), ": ")
}

type problem struct {
	Rule     string  `json:"rule"`
	Severity string  `json:"severity"`
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
	Object   *object `json:"object,omitempty"`
	Field    string  `json:"field,omitempty"`
	Message  string  `json:"message"`
	Hint     string  `json:"hint,omitempty"`
}

// JSON writes all problems as one object.
func (p Problems) JSON(w io.Writer) error {
	list := make([]problem, 0, len(p))
	for _, one := range p {
		entry := problem{
			Rule: one.Rule, Severity: string(one.Severity), File: one.File, Line: one.Line,
			Field: one.Field, Message: one.Err.Error(), Hint: one.Hint,
		}
		if !objectless(one) {
			is := named(one.Object)
			entry.Object = &is
		}
		list = append(list, entry)
	}
	return JSON(w, map[string]any{"apiVersion": plan.APIVersion, "kind": "LintReport", "problems": list})
}

// GitHub writes workflow commands, which become annotations of a pull request.
func (p Problems) GitHub(w io.Writer) error {
	for _, one := range p {
		message := said(one)
		if one.Hint != "" {
			message += "\nhint: " + one.Hint
		}
		at := ""
		if !fileless(one) {
			at = fmt.Sprintf("file=%s,line=%d,", text.Property(one.File), max(one.Line, 1))
		}
		_, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", githubLevel[one.Severity], at, text.Property(one.Rule), text.Annotation(message))
		if err != nil {
			return err
		}
	}
	return nil
}

var githubLevel = map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "notice"}

// Count says how many problems of each severity there are.
func (p Problems) Count() string {
	var parts []string
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		n := 0
		for _, one := range p {
			if one.Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, plural(n, map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "note"}[s]))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

// Rules lists a catalogue.
func Rules(w io.Writer, rules []lint.Rule) error {
	rows := [][]string{{"SEVERITY", "RULE", "WHAT IT ASKS FOR"}}
	for _, r := range rules {
		rows = append(rows, []string{string(r.Severity), r.ID, r.Doc})
	}
	return table(w, rows)
}
