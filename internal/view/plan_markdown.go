package view

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// PlanMarkdown writes a plan for a pull request: short, with the pods and the
// patches folded away.
func PlanMarkdown(w io.Writer, p plan.Plan, predicted *simulate.Summary) error {
	b := &builder{}
	b.line("### Rollout of %s", code(targetText(p.Target)))
	b.line("")
	b.line("**%s**, driven by %s: %s", modeText(p.Change.Mode, p.Change.Restarts), driverWords[p.Driver], inline(cmp.Or(p.Change.Why, "no reason is given")))
	b.line("")
	b.line("%s.", limitsText(p.Limits))
	if predicted != nil {
		b.line("")
		b.line("Predicted: **%s**%s; %s.", OutcomeText(*predicted), when(predicted.Reason != "", " because "+inline(predicted.Reason)), PredictedText(*predicted))
	}
	b.markdownFields(p.Change.Fields)
	b.markdownSteps(p.Steps)
	b.line("")
	for _, r := range Risks(p) {
		b.line("- %s", inline(r))
	}
	b.markdownDetails(p)
	return b.write(w)
}

func (b *builder) markdownFields(list []rules.FieldChange) {
	if len(list) == 0 {
		return
	}
	b.line("")
	b.line("| field | old | new | |")
	b.line("|---|---|---|---|")
	for i, f := range fields(list) {
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

func (b *builder) markdownSteps(steps []plan.Step) {
	b.line("")
	b.line("| | step | what | pods |")
	b.line("|--:|---|---|--:|")
	for i, s := range steps {
		pods := ""
		if len(s.Pods) > 0 {
			pods = strconv.Itoa(len(s.Pods))
		}
		b.line("| %d | %s | %s | %s |", i+1, cell(s.Name), inline(cmp.Or(s.Title, string(s.Kind))), pods)
	}
}

// mostMarkdownPods is how many pods of a step are listed; a comment in a pull
// request has a limit.
const mostMarkdownPods = 50

func (b *builder) markdownDetails(p plan.Plan) {
	b.line("")
	b.line("<details><summary>Pods and patches</summary>")
	for i, s := range p.Steps {
		if len(s.Pods)+len(s.Patches) == 0 {
			continue
		}
		b.line("")
		b.line("%d. %s", i+1, code(s.Name))
		for _, g := range podGroups(s.Pods) {
			more := ""
			if len(g.names) > mostMarkdownPods {
				more = fmt.Sprintf(" and %d more", len(g.names)-mostMarkdownPods)
				g.names = g.names[:mostMarkdownPods]
			}
			b.line("   - %s: %s%s", modeWords[g.mode], code(strings.Join(g.names, ", ")), more)
		}
		for _, patch := range s.Patches {
			b.line("   - %s", code(patchCommand(&p, patch)))
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
