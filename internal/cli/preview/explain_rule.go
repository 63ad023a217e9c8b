package preview

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// explainID writes what the catalogue says of a finding of 'render', or of a rule of 'lint', by its ID.
func explainID(w io.Writer, id string) error {
	if all := finding.Rules(); slices.ContainsFunc(all, func(r finding.Rule) bool { return r.ID == id }) {
		r := finding.Lookup(id)
		_, err := fmt.Fprintf(w, "FINDING:   %s\nSEVERITY:  %s\n", r.ID, r.Severity)
		for _, part := range []struct{ title, text string }{{"WHEN:      ", r.When}, {"BECOMES:   ", r.Becomes}, {"ACTION:    ", r.Action}} {
			if err == nil && part.text != "" {
				_, err = fmt.Fprintln(w, part.title+part.text)
			}
		}
		return err
	}
	all := lint.Rules()
	i := slices.IndexFunc(all, func(r lint.Rule) bool { return r.ID == id })
	if i < 0 {
		return &resource.Error{Err: fmt.Errorf("there is no finding or rule %q", id), Hint: "'kubectl kruise lint --rules' lists the rules; docs/fidelity.md has the findings"}
	}
	_, err := fmt.Fprintf(w, "RULE:      %s\nSEVERITY:  %s\nREQUIRES:  %s\n", id, all[i].Severity, all[i].Doc)
	return err
}
