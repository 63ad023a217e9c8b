// Package html writes reports as one HTML file for any browser: a plan, a simulated
// run, a difference, a rollout. The file asks no server for anything, is complete without
// JavaScript, and holds the same as JSON for programs. It decides nothing: the words are those
// of package view.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

var (
	//go:embed report.gohtml
	markup string
	//go:embed report.css
	styles string
	//go:embed report.js
	script string
)

// About is the description of a report.
type About struct {
	// Version is that of the program, "" for none.
	Version string
	// At is the time of the state that the report starts from; zero for files.
	At time.Time
}

// Plan is one plan of a report.
type Plan struct {
	Page view.PlanPage
	// Digest is what 'rollout resume --approved' takes, "" where no cluster was asked.
	Digest string
}

// page is what the template reads.
type page struct {
	Title, Eyebrow, Lead string
	Style, Script, Data  template.HTML
	Policy               string
	About                About
	Plans                []planView
	Diff                 *diffView
	Record               *recordView
}

// Plans writes plans, one after the other.
func Plans(w io.Writer, list []Plan, about About) error {
	p := page{Eyebrow: "Rollout plan", About: about}
	data := report{Report: "plan"}
	for i, one := range list {
		v, err := newPlanView(one, fmt.Sprintf("p%d-", i+1), len(list) > 1)
		if err != nil {
			return err
		}
		p.Plans = append(p.Plans, v)
		data.Plans = append(data.Plans, v.data)
	}
	switch len(list) {
	case 0:
		p.Title, p.Lead = "No changes", "No workload changes, so there is nothing to roll out."
	case 1:
		p.Title = list[0].Page.Title()
	default:
		p.Eyebrow, p.Title = "Rollout plans", counted.Of(len(list), "workload")+" change"
	}
	return p.write(w, data)
}

// Run writes a simulated run of a plan.
func Run(w io.Writer, plan view.PlanPage, about About) error {
	v, err := newPlanView(Plan{Page: plan}, "p1-", false)
	if err != nil {
		return err
	}
	v.Simulated = true
	p := page{Eyebrow: "Simulated rollout", Title: plan.Title(), About: about, Plans: []planView{v}}
	return p.write(w, report{Report: "simulation", Plans: []planData{v.data}})
}

// Diff writes what differs between two states. sides names them, as the command line does.
func Diff(w io.Writer, changes view.ChangesPage, sides string, about About) error {
	p := page{Eyebrow: "Changes", Title: sides, About: about, Diff: newDiffView(changes)}
	return p.write(w, report{Report: "diff", Diff: changes.Document})
}

// Record writes a rollout with its history.
func Record(w io.Writer, record view.RecordPage, about About) error {
	v, err := newRecordView(record)
	if err != nil {
		return err
	}
	p := page{Eyebrow: "Rollout", Title: record.Plan.Title(), About: about, Record: &v}
	return p.write(w, report{Report: "rollout", Rollout: v.data})
}

// write puts the parts together. The template escapes by construction; what acts beyond
// markup, such as characters that turn the direction of text, becomes visible in one place.
func (p page) write(w io.Writer, data report) error {
	if p.About.Version != "" {
		data.Program = "kubectl-kruise " + p.About.Version
	}
	embedded, err := data.encode()
	if err != nil {
		return err
	}
	p.Data = template.HTML(`<script type="application/json" id="report-data">` + embedded + "</script>") //nolint:gosec // encode leaves no markup
	p.Style = template.HTML("<style>" + styles + "</style>")                                             //nolint:gosec // constant
	p.Script = template.HTML("<script>" + script + "</script>")                                          //nolint:gosec // constant
	p.Policy = policy()
	var b bytes.Buffer
	if err := pages().Execute(&b, p); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	_, err = io.WriteString(w, text.CI(text.Block(b.String())))
	return err
}

// policy allows the style sheet and the script of the page, by what they are, and nothing
// else: no request, no form, no frame.
func policy() string {
	return strings.Join([]string{
		"default-src 'none'", "style-src " + hash(styles), "script-src " + hash(script), "base-uri 'none'", "form-action 'none'",
	}, "; ")
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pages read fields and call these functions. They are parsed when the first page is written:
// no other command waits for them.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(functions).Parse(markup))
})

var functions = template.FuncMap{
	"span":    svg.Span,
	"yaml":    view.YAMLText,
	"plural":  counted.Of,
	"stamp":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"dict":    dict,
	"has":     func(v any) bool { return v != nil },
	"known":   func(t time.Time) bool { return !t.IsZero() },
	"words":   func(e rules.Effect) string { return e.Words() },
	"toneOf":  func(l compare.Level) string { return levelTones[l] },
	"stepMark": func(marks map[int]simulate.StepMark, number int) *simulate.StepMark {
		if s, ok := marks[number]; ok {
			return &s
		}
		return nil
	},
}

// dict makes the arguments of a nested template: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("the name of an argument is %v", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}
