package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Markdown writes the page for a pull request: short, with the pods and the patches folded
// away.
func (page PlanPage) Markdown(w io.Writer) error {
	b := &builder{}
	b.line("### Rollout of %s", code(page.Target))
	b.line("")
	b.line("**%s**, by %s: %s", page.Verdict, page.Driver, inline(cmp.Or(page.Why, "no reason is given")))
	b.line("")
	b.line("%s.", page.Limits)
	if o := page.Outcome; o != nil {
		b.line("")
		b.line("Estimate: **%s**%s; %s.", o.Text, when(o.Reason != "", " because "+inline(o.Reason)), o.Numbers)
	}
	b.markdownFields(page.Fields)
	b.markdownSteps(page.Steps)
	b.line("")
	for _, r := range slices.Concat(page.Watch, page.Warnings) {
		b.line("- %s", inline(r))
	}
	b.markdownDetails(page.Steps)
	return b.write(w)
}

func (b *builder) markdownFields(list []rules.FieldChange) {
	if len(list) == 0 {
		return
	}
	b.line("")
	b.line("| field | old | new | |")
	b.line("|---|---|---|---|")
	for i, f := range list {
		if i == mostFields && len(list) > mostFields+1 {
			b.line("| and %d more | | | |", len(list)-i)
			break
		}
		b.line("| %s | %s | %s | %s |", cell(f.Path), b.markdownValue(f.Old), b.markdownValue(f.New), f.Effect.Words())
	}
}

func (b *builder) markdownValue(v any) string {
	if v == nil {
		return ""
	}
	return cell(b.st.value(v))
}

func (b *builder) markdownSteps(steps []PlanStep) {
	b.line("")
	b.line("| | step | what | pods |")
	b.line("|--:|---|---|--:|")
	for _, s := range steps {
		pods := ""
		if s.Pods > 0 {
			pods = strconv.Itoa(s.Pods)
		}
		b.line("| %d | %s | %s | %s |", s.Number, cell(s.Name), inline(s.Title), pods)
	}
}

// mostMarkdownPods is how many pods of a step are listed; a comment in a pull
// request has a limit.
const mostMarkdownPods = 50

func (b *builder) markdownDetails(steps []PlanStep) {
	b.line("")
	b.line("<details><summary>Pods and patches</summary>")
	for _, s := range steps {
		if s.Pods+len(s.Patches) == 0 {
			continue
		}
		b.line("")
		b.line("%d. %s", s.Number, code(s.Name))
		for _, g := range s.Groups {
			more := ""
			if len(g.Names) > mostMarkdownPods {
				more = fmt.Sprintf(" and %d more", len(g.Names)-mostMarkdownPods)
				g.Names = g.Names[:mostMarkdownPods]
			}
			b.line("   - %s: %s%s", g.Word, code(strings.Join(g.Names, ", ")), more)
		}
		for _, command := range s.Patches {
			b.line("   - %s", code(command))
		}
	}
	b.line("")
	b.line("</details>")
}

// inline makes text safe in a paragraph or a table cell.
func inline(s string) string { return text.Markdown(s) }

// cell makes text a code span in a table.
func cell(s string) string { return text.CodeCell(s) }

// code makes text a code span, which may hold backticks.
func code(s string) string { return text.Code(s) }
