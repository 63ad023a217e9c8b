package patches

import (
	"bytes"
	"fmt"
	"strings"
)

// driverWords are who replaces pods.
var driverWords = map[string]string{
	"kruise": "Kruise's controllers", "native": "Kubernetes' own controllers", "client": "kubectl kruise, pod by pod",
}

// page is a Markdown page in the making.
type page struct{ bytes.Buffer }

func (p *page) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	_, _ = p.WriteString(oneLine([]string{text})[0] + "\n")
}

// readme is the set as a page.
func readme(s Set) []byte {
	p := &page{}
	p.line("# Patches, step by step")
	p.line("")
	if s.From != "" {
		p.line("From %s to %s.", code(s.From), code(s.To))
	}
	p.line("Written by `kubectl kruise render --patches-dir`; the next run replaces it. Run the")
	p.line("commands in this folder, one after the other, and continue only when the conditions")
	p.line("after a step hold. If a check fails or times out, stop and find the cause.")
	p.line("`index.json` has the same for programs.")
	p.summary(s)
	for i := range s.Sequences {
		p.sequence(&s.Sequences[i])
	}
	return p.Bytes()
}

func (p *page) summary(s Set) {
	p.line("")
	if len(s.Sequences) == 0 {
		p.line("No workload changes.")
	} else {
		p.line("| object | who replaces pods | steps |")
		p.line("|---|---|--:|")
	}
	for i := range s.Sequences {
		q := &s.Sequences[i]
		p.line("| %s | %s | %d |", strings.ReplaceAll(plain(Named(q.Object)), "|", `\|`), driverWords[q.Driver], len(q.Steps))
	}
	for _, l := range []struct {
		title string
		list  []Target
	}{
		{"New, to be applied as they are", s.Created},
		{"Changed, but not step by step: to be applied as they are", s.Changed},
		{"Removed: to be deleted last", s.Deleted},
	} {
		if len(l.list) == 0 {
			continue
		}
		p.line("")
		p.line("%s:", l.title)
		p.line("")
		for _, t := range l.list {
			p.line("- %s", Named(t))
		}
	}
}

func (p *page) sequence(q *Sequence) {
	p.line("")
	p.line("## %s", Named(q.Object))
	p.line("")
	if q.For != nil {
		p.line("It was rendered from %s.", Named(*q.For))
	}
	for _, w := range q.What {
		p.line("- %s", plain(w))
	}
	if q.Method != "" {
		p.line("- %s", plain(q.Method))
	}
	for _, w := range q.Warnings {
		p.line("- **warning:** %s", plain(w))
	}
	for i := range q.Steps {
		p.step(q, i)
	}
}

func (p *page) step(q *Sequence, i int) {
	s := &q.Steps[i]
	p.line("")
	p.line("### %d. %s", i+1, plain(s.Title))
	p.conditions("Before:", s.Before)
	p.commands(s.Commands)
	p.conditions("Before the next step:", s.After)
	if len(s.Notes) > 0 {
		p.line("")
	}
	for _, n := range s.Notes {
		p.line("- %s", plain(n))
	}
}

func (p *page) conditions(title string, list []Condition) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", title)
	p.line("")
	var checks []string
	for _, c := range list {
		p.line("- %s", plain(c.Text))
		if c.Check != "" {
			checks = append(checks, c.Check)
		}
	}
	p.commands(checks)
}

func (p *page) commands(list []string) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("```sh")
	for _, c := range list {
		p.line("%s", c)
	}
	p.line("```")
}

// plain keeps text from being read as markup.
func plain(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "`", "'", "_", `\_`).Replace(s)
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
