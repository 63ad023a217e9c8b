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
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
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
	p := d.plan(n)
	if err := writes(n, &p); err != nil {
		return plan.Plan{}, err
	}
	return p, nil
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

func (d *document) plan(n *tree.Node) plan.Plan {
	c := d.Spec.Change
	p := plan.Plan{
		Target: d.Spec.Target.read(), Driver: plan.Driver(d.Spec.Driver), Warnings: d.Spec.Warnings, RollbackReason: d.Spec.RollsBack,
		Drain: plan.Drain(d.Spec.Drain), Grace: timeOf(d.Spec.Grace), HookAnswer: timeOf(duration(d.Spec.HookAnswer)),
		Change: plan.Change{
			FromRevision: c.FromRevision, ToRevision: c.ToRevision, FromHash: c.FromHash, ToHash: c.ToHash,
			Mode: rules.UpdateMode(c.Mode), Why: c.Why, Restarts: c.Restarts,
		},
		Limits: plan.Limits{
			Replicas: d.Spec.Limits.Replicas, MaxUnavailable: d.Spec.Limits.MaxUnavailable,
			MaxSurge: d.Spec.Limits.MaxSurge, MinReady: timeOf(d.Spec.Limits.MinReady),
		},
	}
	for _, f := range c.Fields {
		p.Change.Fields = append(p.Change.Fields, rules.FieldChange{
			Path: f.Path, Old: f.Old, New: f.New, Effect: rules.Effect(f.Effect), Restarts: f.Restarts, Why: f.Why,
		})
	}
	for _, f := range c.Spec {
		p.Change.Spec = append(p.Change.Spec, plan.SpecWrite(f))
	}
	steps := tree.Items(tree.Get(n, "spec", "steps"))
	for i := range d.Spec.Steps {
		p.Steps = append(p.Steps, d.Spec.Steps[i].read(steps[i]))
	}
	return p
}

func (t *target) read() plan.Target {
	out := plan.Target{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, UID: t.UID}
	if t.Carrier != nil {
		carrier := t.Carrier.read()
		out.Carrier = &carrier
	}
	return out
}

// read takes patches from the node, where whole numbers are whole.
func (s *step) read(n *tree.Node) plan.Step {
	out := plan.Step{
		Name: s.Name, Kind: plan.StepKind(s.Kind), Title: s.Title, Updated: s.Updated, Kept: s.Kept,
		Before: readConditions(s.Before), After: readConditions(s.After),
		Timeout: timeOf(s.Timeout), OnFailure: plan.OnFailure(s.OnFailure),
	}
	patches := tree.Items(tree.Get(n, "patches"))
	for i, p := range s.Patches {
		out.Patches = append(out.Patches, p.read(tree.Value(tree.Get(patches[i], "patch"))))
	}
	for _, p := range s.Pods {
		out.Pods = append(out.Pods, plan.PodStep{Name: p.Name, UID: p.UID, Node: p.Node, Mode: rules.UpdateMode(p.Mode), Tie: p.Tie, Why: p.Why})
	}
	if s.Pause != nil {
		out.Pause = &plan.Pause{For: timeOf(s.Pause.For)}
	}
	if s.Verify != nil {
		out.Verify = s.Verify.read()
	}
	if s.Pull != nil {
		out.Pull = &plan.Pull{Images: s.Pull.Images, Parallel: s.Pull.Parallel}
	}
	if s.Containers != nil {
		out.Containers = &plan.Containers{
			Names: s.Containers.Names, Method: s.Containers.Method,
			RestartStrategy: plan.RestartStrategy{Ordered: s.Containers.Ordered, Unready: timeOf(s.Containers.Unready)},
		}
	}
	return out
}

func (p *patch) read(body any) plan.Patch {
	out := plan.Patch{Type: p.Type, Subresource: p.Subresource, Reached: p.Reached, Body: body}
	if p.Target != nil {
		t := p.Target.read()
		out.Target = &t
	}
	return out
}

func (v *verify) read() *plan.Verify {
	return &plan.Verify{
		Command: v.Command, URL: v.URL, Status: v.Status, JSONPath: v.JSONPath, Value: v.Value,
		Prometheus: v.Prometheus, Query: v.Query, Threshold: v.Threshold, Job: v.Job,
		Every: timeOf(v.Every), Attempts: v.Attempts,
	}
}

func readConditions(list []condition) []plan.Condition {
	var out []plan.Condition
	for _, c := range list {
		out = append(out, plan.Condition{Type: plan.ConditionType(c.Type), Value: c.Value})
	}
	return out
}
