// Package convert writes objects in another form: those of Kruise in another
// version of their API, and workloads and budgets as the kind that does the same
// with Kruise, or without. What has no place there is named, never dropped in
// silence.
package convert

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Loss is a field that has no place in what is written.
type Loss struct {
	// Object, File and Line say where the field is.
	Object resource.ID
	File   string
	Line   int
	kruise.Loss
}

// Finding is the loss as a finding.
func (l Loss) Finding() finding.Finding {
	rule := finding.Lookup("convert/version")
	return finding.Finding{ID: rule.ID, Severity: rule.Severity, Object: l.Object, File: l.File, Line: l.Line, Field: l.Path, Message: l.Why, Action: rule.Action}
}

// ToVersion rewrites the objects of Kruise that exist in this version in it, and
// reports what is lost. All others stay as they are, to the byte. skipped are the
// objects of kinds that do not have the version.
func ToVersion(list []*resource.Resource, version string) (lost []Loss, skipped []*resource.Resource, err error) {
	var errs resource.Errors
	for _, r := range list {
		if r.Group() != kruise.Group && r.Group() != kruise.PolicyGroup || r.Version() == version {
			continue
		}
		if !kruise.Serves(r.Group(), r.Kind(), version) {
			skipped = append(skipped, r)
			continue
		}
		out, losses, err := kruise.FromHub(r.Node(), version)
		if err != nil {
			errs.Add(r.Wrap(err, ""))
			continue
		}
		for _, l := range losses {
			lost = append(lost, Loss{Object: r.ID(), File: r.Origin.File, Line: tree.LineOf(r.Node(), l.Path), Loss: l})
		}
		*r.Edit() = *out
	}
	return lost, skipped, errs.Err()
}
