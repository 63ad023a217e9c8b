package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Problems are what lint found, as every form of its output tells them.
type Problems []lint.Problem

var problemColors = map[lint.Severity]string{lint.Error: red, lint.Warning: yellow, lint.Info: faint}

// Text writes one problem after the other, each with its place, rule and hint.
func (p Problems) Text(w io.Writer, st Style) error {
	b := &builder{st: st}
	for _, one := range p {
		b.line("%s%s %s  [%s]", spot(one), st.paint(problemColors[one.Severity], string(one.Severity)+":"), problemText(one), one.Rule)
		if one.Hint != "" {
			b.line("  hint: %s", st.hint(one.Hint))
		}
	}
	return b.write(w)
}

// fileless reports a problem of an object that is in no file, by its name.
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

// problemText names the object, the field and the fault.
func problemText(p lint.Problem) string {
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
	Rule     string      `json:"rule"`
	Severity string      `json:"severity"`
	File     string      `json:"file,omitempty"`
	Line     int         `json:"line,omitempty"`
	Object   resource.ID `json:"object,omitzero"`
	Field    string      `json:"field,omitempty"`
	Message  string      `json:"message"`
	Hint     string      `json:"hint,omitempty"`
}

// JSON writes all problems as one object.
func (p Problems) JSON(w io.Writer) error {
	list := make([]problem, 0, len(p))
	for _, one := range p {
		if objectless(one) {
			one.Object = resource.ID{}
		}
		list = append(list, problem{
			Rule: one.Rule, Severity: string(one.Severity), File: one.File, Line: one.Line, Object: one.Object,
			Field: one.Field, Message: one.Err.Error(), Hint: one.Hint,
		})
	}
	return JSON(w, map[string]any{"apiVersion": plan.APIVersion, "kind": "LintReport", "problems": list})
}

// GitHub writes workflow commands, which become annotations of a pull request.
func (p Problems) GitHub(w io.Writer) error {
	for _, one := range p {
		message := problemText(one)
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

// Count reports how many problems of each severity there are.
func (p Problems) Count() string {
	var parts []string
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		n := 0
		for _, one := range p {
			if one.Severity == s {
				n += max(one.More, 1)
			}
		}
		switch {
		case n == 0:
		case s == lint.Info:
			parts = append(parts, fmt.Sprintf("%d info", n))
		default:
			parts = append(parts, counted.Of(n, string(s)))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

// Rules lists a catalogue.
func Rules(w io.Writer, rules []lint.Rule, st Style) error {
	rows := [][]string{{"SEVERITY", "RULE", "WHAT IT ASKS FOR"}}
	for _, r := range rules {
		rows = append(rows, []string{string(r.Severity), r.ID, r.Doc})
	}
	return st.explained(w, rows, gap)
}

var sarifLevel = map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "note"}

// object is one of JSON.
type object = map[string]any

// SARIF writes the part of SARIF 2.1.0 that code scanning services read, with the rules that
// were met. The libraries for it also read and validate, and bring a JSON schema engine that is
// not maintained any more.
func (p Problems) SARIF(w io.Writer, rules []lint.Rule, version string) error {
	met, index := []object{}, map[string]int{}
	for _, r := range rules {
		if slices.ContainsFunc(p, func(one lint.Problem) bool { return one.Rule == r.ID }) {
			index[r.ID] = len(met)
			met = append(met, object{"id": r.ID, "shortDescription": object{"text": r.Doc}})
		}
	}
	driver := object{"name": "kubectl-kruise", "informationUri": "https://github.com/kubectl-kruise/kubectl-kruise", "rules": met}
	if version != "" {
		driver["version"] = version
	}
	results := []object{}
	for _, one := range p {
		text := problemText(one)
		if one.Hint != "" {
			text += ". " + one.Hint
		}
		results = append(results, object{
			"ruleId": one.Rule, "ruleIndex": index[one.Rule], "level": sarifLevel[one.Severity],
			"message": object{"text": text}, "locations": locationsOf(one),
		})
	}
	return JSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "results": results}},
	})
}

// locationsOf is where the problem is, or its object if that is in no file; one of the whole input has no location.
func locationsOf(p lint.Problem) []object {
	switch {
	case fileless(p) && objectless(p):
		return []object{}
	case fileless(p):
		return []object{{"logicalLocations": []object{{"fullyQualifiedName": p.Object.String(), "kind": "resource"}}}}
	}
	at := object{"region": object{"startLine": max(p.Line, 1)}}
	if p.File != "" {
		at["artifactLocation"] = object{"uri": p.File}
	}
	return []object{{"physicalLocation": at}}
}
