package plan

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// write writes one plan; digest is "" where no cluster was asked.
func (o *options) write(w io.Writer, m *planning.Made, digest string) error {
	switch o.output {
	case "yaml":
		_, err := w.Write(planfile.Write(m.Plan))
		return err
	case "json":
		return writeJSON(w, planfile.Write(m.Plan))
	}
	if o.output == "html" {
		return o.writeHTML(w, []reported{{made: m, digest: digest}})
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

// reported is a plan with its digest.
type reported struct {
	made   *planning.Made
	digest string
}

// writeHTML writes plans as one page.
func (o *options) writeHTML(w io.Writer, list []reported) error {
	about := html.About{Version: version.Get().Version}
	var plans []html.Plan
	for _, r := range list {
		if !o.FromFiles() {
			about.At = r.made.At
		}
		run := &r.made.Predicted
		if len(r.made.Plan.Steps) == 0 {
			run = nil
		}
		plans = append(plans, html.Plan{Page: view.NewPlanPage(r.made.Plan, run).Place(r.made.Snapshot.Pods), Digest: r.digest})
	}
	return html.Plans(w, plans, about)
}

// writeJSON writes the very document of -o yaml as JSON.
func writeJSON(w io.Writer, doc []byte) error {
	var v any
	if err := yaml.Unmarshal(doc, &v); err != nil {
		return fmt.Errorf("the plan cannot be read back: %w", err)
	}
	return view.JSON(w, v)
}
