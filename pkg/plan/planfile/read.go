// Package planfile is the written form of plans and of policies: YAML that users
// review, keep in Git and edit. Reading is strict, so that a typing error is found
// before a rollout and not during it; writing is stable to the byte.
//
// It knows no files: callers hand in what they have read. Faults are [*tree.Error]
// with field, line and hint.
package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Read reads a plan. It refuses versions that it does not know, unknown fields and
// values that make no sense; all faults are reported at once.
func Read(data []byte) (plan.Plan, error) {
	n, err := parse(data)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := typed(n, plan.APIVersion, plan.Kind); err != nil {
		return plan.Plan{}, err
	}
	var d document
	if err := strict(n, &d); err != nil {
		return plan.Plan{}, err
	}
	if err := d.check(n); err != nil {
		return plan.Plan{}, err
	}
	if len(d.Spec.Steps) == 0 {
		d.Spec.Steps = nil
	}
	if err := writes(n, &d.Spec); err != nil {
		return plan.Plan{}, err
	}
	return d.Spec, nil
}

// parse reads the one document that there must be.
func parse(data []byte) (n *tree.Node, err error) {
	lim := limits
	lim.Nodes = min(lim.Nodes, len(data)+aliasAllowance)
	if len(data) > limits.Nodes && tree.Separators(data) > limits.Nodes {
		return nil, &tree.Error{Msg: fmt.Sprintf("the document has more than %d values", limits.Nodes)}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc tree.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &tree.Error{Msg: "there is no document"}
		}
		return nil, &tree.Error{Msg: strings.TrimPrefix(redact.Message(err.Error(), nil), "yaml: "), Hint: "it has to be YAML or JSON"}
	}
	if err := dec.Decode(new(tree.Node)); !errors.Is(err, io.EOF) {
		return nil, &tree.Error{Msg: "there is more than one document", Hint: "write one to a file"}
	}
	root := tree.Root(&doc)
	if _, err := tree.Expand(root, 0, lim); err != nil {
		return nil, err
	}
	if !tree.IsMap(root) {
		return nil, tree.Errorf(root, "", "", "a mapping is wanted")
	}
	return root, nil
}

// limits bound what a document may grow to; a plan of 10,000 pods has a tenth of
// so many nodes.
var limits = tree.Limits{Nodes: 2_000_000, Depth: 100, Bytes: 64 << 20}

// aliasAllowance is how many nodes aliases may add, as in manifests.
const aliasAllowance = 100_000

// typed refuses documents of another version or kind.
func typed(n *tree.Node, apiVersion, kind string) error {
	if v := tree.StrAt(n, "apiVersion"); v != apiVersion {
		return tree.Errorf(n, "apiVersion", "this program reads "+apiVersion, "%s %q", missingOr(v, "version"), v)
	}
	if k := tree.StrAt(n, "kind"); k != kind {
		return tree.Errorf(n, "kind", "want "+kind, "%s %q", missingOr(k, "kind"), k)
	}
	return nil
}

// strict decodes a document and refuses unknown fields.
func strict(n *tree.Node, into any) error {
	unknown, err := tree.Decode(n, into)
	if err != nil {
		return err
	}
	var faults []error
	for _, path := range unknown {
		faults = append(faults, tree.Errorf(n, path, "check the spelling", "unknown field"))
	}
	return errors.Join(faults...)
}

func missingOr(v, what string) string {
	if v == "" {
		return "no " + what
	}
	return "unknown " + what
}

// writes refuses patches that their steps may not send, at their places in the document.
func writes(n *tree.Node, p *plan.Plan) error {
	var faults []error
	for _, f := range p.CheckWrites() {
		faults = append(faults, tree.Errorf(n, fmt.Sprintf("spec.steps[%d].patches[%d]", f.Step, f.Patch), f.Hint, "%s", f.Msg))
	}
	return errors.Join(faults...)
}
