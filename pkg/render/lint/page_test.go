package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// TestPage_IsUpToDate holds docs/lint-rules.md against the catalogue.
func TestPage_IsUpToDate(t *testing.T) {
	golden.Same(t, "../../../docs/lint-rules.md", page(lint.Rules()))
}

// page is the catalogue in Markdown, a table per kind.
func page(rules []lint.Rule) string {
	var b strings.Builder
	b.WriteString("<!-- Generated: UPDATE=1 go test ./pkg/render/lint -run Page -->\n# Rules of lint\n\n" +
		"Look up a problem that `kubectl kruise lint` reports by its ID, the word in brackets at its end.\n\n" +
		"An **error** is what Kruise's webhooks and schemas refuse; a **warning** is accepted, but\n" +
		"probably not intended; an **info** is good to know. How to run lint and to turn off rules:\n" +
		"[lint.md](lint.md).\n")
	kind := "none yet"
	for _, r := range rules {
		if r.Kind != kind {
			kind = r.Kind
			fmt.Fprintf(&b, "\n## %s\n\n| Rule | Severity | Meaning |\n|---|---|---|\n", heading(kind))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.ID, r.Severity, strings.ReplaceAll(r.Doc, "|", `\|`))
	}
	return b.String()
}

func heading(kind string) string {
	if kind == "*" || kind == "" {
		return "Every kind"
	}
	return kind
}
