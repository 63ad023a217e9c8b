package plan

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

func (o *options) write(w io.Writer, m *planning.Made) error {
	switch o.output {
	case "yaml":
		_, err := w.Write(planfile.Write(m.Plan))
		return err
	case "json":
		return writeJSON(w, planfile.Write(m.Plan))
	}
	if len(m.Plan.Steps) == 0 && o.output != "svg" {
		_, err := fmt.Fprintln(w, m.Plan.Change.Why)
		return err
	}
	line := m.Predicted
	switch o.output {
	case "markdown":
		return view.PlanMarkdown(w, m.Plan, &line.Summary)
	case "svg":
		return svg.Draw(w, view.Picture(m.Plan, line))
	}
	return view.Plan(w, m.Plan, &line.Summary, o.factory.OutStyle(o.verbose))
}

// writeJSON writes the very document of -o yaml as JSON.
func writeJSON(w io.Writer, doc []byte) error {
	var v any
	if err := yaml.Unmarshal(doc, &v); err != nil {
		return fmt.Errorf("the plan cannot be read back: %w", err)
	}
	return view.JSON(w, v)
}
