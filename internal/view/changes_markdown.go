package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// commentLimit is how many characters a comment of a pull request may have on
// GitHub, 65,536, less room for a link that a job adds; text is held below in bytes, which
// are never fewer. spare is for the
// statement of what was cut, and for what closes the table.
const (
	commentLimit = 65_000
	spare        = 512
)

// ChangesMark is in the first line of the Markdown, so that a CI job finds its own
// comment again.
const ChangesMark = "<!-- kubectl-kruise diff -->"

// Markdown writes a comment for a pull request: a table of what happens, and the
// fields folded away. What does not fit is left out, and the end says so.
func (c Changes) Markdown(w io.Writer) error {
	b := &builder{}
	b.line("%s", ChangesMark)
	b.line("### What this change does")
	b.line("")
	b.line("%s.", inline(c.Summary()))
	rows, details := 0, 0
	if len(c.Changes) > 0 {
		b.line("")
		b.line("| | object | pods | warnings |")
		b.line("|---|---|---|---|")
		rows = b.within(len(c.Changes), func(i int) string { return markdownRow(&c.Changes[i]) })
		b.line("")
		details = b.within(len(c.Changes), func(i int) string { return markdownDetail(&c.Changes[i]) })
	}
	if rows < len(c.Changes) || details < len(c.Changes) {
		b.line("")
		b.line("_Cut to fit: %d of %s %s missing from the table, the fields of %d are left out. `kubectl kruise diff` shows all._",
			len(c.Changes)-rows, counted.Of(len(c.Changes), "object"), counted.Word(len(c.Changes)-rows, "is", "are"), len(c.Changes)-details)
	}
	return b.write(w)
}

// within appends pieces while they fit, and returns how many did.
func (b *builder) within(n int, piece func(int) string) int {
	for i := range n {
		text := piece(i)
		if b.text.Len()+len(text) > commentLimit-spare {
			return i
		}
		b.text.WriteString(text)
	}
	return n
}

// mostRemarks is how many effects stand in a row of the table.
const mostRemarks = 3

func markdownRow(ch *compare.Change) string {
	level, item := string(ch.Level), changeItem(ch)
	if ch.Level.Rank() <= compare.Recreate.Rank() {
		level = "**" + level + "**"
	}
	pods := []string{item.Pods}
	for i, s := range item.Subsets {
		if i == mostNames {
			pods = append(pods, "and "+counted.Of(len(ch.Subsets)-i, "more subset"))
			break
		}
		pods = append(pods, s.Text)
	}
	pods = append(pods, item.Reach, item.Copies, when(item.Because != "", "reason: "+item.Because))
	var remarks []string
	for i, e := range item.Effects {
		if i == mostRemarks {
			remarks = append(remarks, fmt.Sprintf("and %d more", len(ch.Effects)-i))
			break
		}
		remarks = append(remarks, e.Text)
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s |\n", level, ch.Verb, cell(ch.ID.String()), breaks(pods), breaks(remarks))
}

// breaks puts texts below each other in a cell.
func breaks(list []string) string {
	var out []string
	for _, text := range list {
		if text != "" {
			if runes := []rune(text); len(runes) > mostText {
				text = string(runes[:mostText-1]) + "…"
			}
			out = append(out, inline(text))
		}
	}
	return strings.Join(out, "<br>")
}

// mostText is the longest text in a cell.
const mostText = 400

// markdownDetail folds the fields of one object away, as a diff.
func markdownDetail(ch *compare.Change) string {
	if len(ch.Fields) == 0 {
		return ""
	}
	b := &builder{}
	for i, f := range ch.Fields {
		if i == mostFields && len(ch.Fields) > mostFields+1 {
			b.line("  and %s", counted.Of(len(ch.Fields)-i, "more field"))
			break
		}
		b.line("  %s%s", f.Path, effectText(f, ch.Rollout))
		if f.Old != nil {
			b.line("- %s", b.st.value(f.Old))
		}
		if f.New != nil {
			b.line("+ %s", b.st.value(f.New))
		}
	}
	body := b.text.String()
	fence := "```"
	for strings.Contains(body, fence) {
		fence += "`"
	}
	return fmt.Sprintf("<details><summary>%s, %s</summary>\n\n%sdiff\n%s%s\n\n</details>\n",
		text.HTML(headOf(ch)), counted.Of(len(ch.Fields), "field"), fence, body, fence)
}
