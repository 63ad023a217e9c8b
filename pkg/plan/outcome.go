package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Outcome is the object after all patches of the plan, in their order. present is the object in
// the cluster. The error names the patch that does not apply.
func (p *Plan) Outcome(present *cluster.Workload) (*cluster.Workload, error) {
	stages, err := p.outcomes(present)
	if err != nil {
		return nil, err
	}
	return stages[len(stages)-1], nil
}

// outcomes are the object before the first step, and after each.
func (p *Plan) outcomes(present *cluster.Workload) ([]*cluster.Workload, error) {
	doc, err := p.document(present)
	if err != nil {
		return nil, err
	}
	now, err := workloadOf(doc)
	if err != nil {
		return nil, err
	}
	stages := []*cluster.Workload{now}
	for i := range p.Steps {
		for j := range p.Steps[i].Patches {
			if doc, err = ApplyPatch(doc, &p.Steps[i].Patches[j]); err != nil {
				return nil, fmt.Errorf("patch %d in step %s does not fit the object in the cluster: %w", j+1, p.Steps[i].Name, err)
			}
		}
		if len(p.Steps[i].Patches) > 0 {
			if now, err = workloadOf(doc); err != nil {
				return nil, fmt.Errorf("after step %s: %w", p.Steps[i].Name, err)
			}
		}
		stages = append(stages, now)
	}
	return stages, nil
}

// document is the object as JSON, in the version in which the plan patches it.
func (p *Plan) document(present *cluster.Workload) ([]byte, error) {
	target := p.Target.Object()
	gv, err := schema.ParseGroupVersion(target.APIVersion)
	if err != nil {
		return nil, err
	}
	spec, err := specOf(present, gv.Version)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"apiVersion": target.APIVersion, "kind": present.Kind,
		"metadata": map[string]any{"namespace": present.Namespace, "name": present.Name, "uid": present.UID, "annotations": present.Annotations},
		"spec":     spec,
	})
}

func workloadOf(doc []byte) (*cluster.Workload, error) {
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, err
	}
	return cluster.ReadWorkload(tree.FromValue(v))
}

// ApplyPatch returns a JSON document after a patch of type merge or JSON.
func ApplyPatch(doc []byte, p *Patch) ([]byte, error) {
	body, err := json.Marshal(p.Body)
	if err != nil {
		return nil, err
	}
	if p.Type != PatchJSON {
		return jsonpatch.MergePatch(doc, body)
	}
	ops, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	return ops.Apply(doc)
}

// WithDescription returns the plan with a description of its change that is made from its
// patches and the object in the cluster, so that what a reviewer reads is what will be
// written. It fails where the plan describes another change than its patches make, and
// where they do not apply, because the plan or the object was changed in between. It is
// for a plan that has not begun.
func (p Plan) WithDescription(s Snapshot) (Plan, error) {
	b, stages, err := p.effect(s)
	if err != nil {
		return p, err
	}
	const hint = "make the plan again with 'kubectl kruise plan'"
	ofWorkload := p.Target.Kind != "Pod"
	if ofWorkload {
		b.subject = b.readSubject()
		b.compareOld()
	}
	made := b.plan.Change
	if p.Change.ToHash != made.ToHash {
		return p, &tree.Error{Path: "spec.change.toHash", Msg: "the patches of the plan lead to another template than the described one", Hint: hint}
	}
	if said, does := describedFields(p.Change.Fields), describedFields(made.Fields); !slices.Equal(said, does) {
		return p, &tree.Error{Path: "spec.change.fields", Msg: "the patches of the plan change other fields than described: " + difference(said, does), Hint: hint}
	}
	if ofWorkload && p.Limits != b.subject.limits {
		return p, &tree.Error{Path: "spec.limits", Msg: fmt.Sprintf("the plan has %+v, but the object needs %+v", p.Limits, b.subject.limits), Hint: hint}
	}
	for i := range p.Steps {
		if n, more := b.updatesMore(&p.Steps[i], stages[i+1]); more {
			return p, &tree.Error{
				Path: fmt.Sprintf("spec.steps[%d].updated", i), Hint: hint,
				Msg: fmt.Sprintf("the partition of the step updates %s, more than the %d of the plan", counted.Of(n, "pod"), p.Steps[i].Updated),
			}
		}
	}
	p.Change.Fields, p.Change.Spec, p.Change.Mode, p.Change.Why, p.Change.Restarts = made.Fields, made.Spec, made.Mode, made.Why, made.Restarts
	p.Steps = withVerifyTitles(p.Steps)
	return p, nil
}

// Remaining returns what is left of a plan that comes from a record: the steps from the progress
// on, with a description that is made from their patches and the live object.
func (p Plan) Remaining(s Snapshot) (Plan, error) {
	p.Steps = p.Steps[min(max(s.Progress.Step, 0), len(p.Steps)):]
	b, _, err := p.effect(s)
	if err != nil {
		return p, err
	}
	p.Change, p.Steps = b.plan.Change, withVerifyTitles(p.Steps)
	return p, nil
}

// effect compares the object in the cluster with what the patches make of it, and returns
// the object before the first step and after each, too.
func (p *Plan) effect(s Snapshot) (*builder, []*cluster.Workload, error) {
	for _, f := range p.CheckWrites() {
		return nil, nil, &tree.Error{Path: fmt.Sprintf("spec.steps[%d].patches[%d]", f.Step, f.Patch), Msg: f.Msg, Hint: f.Hint}
	}
	b := newBuilder(nil, s.Object(), s, Policy{})
	if b.present == nil || b.present.Object == nil {
		return nil, nil, ErrNotFound
	}
	stages, err := p.outcomes(b.present)
	if err != nil {
		return nil, nil, err
	}
	b.plan.Driver, b.desired = p.Driver, stages[len(stages)-1]
	b.compareTemplates()
	return b, stages, b.compareSpecs()
}

// updatesMore reports whether the partition after a step updates more pods than the step has, and
// how many.
func (b *builder) updatesMore(s *Step, after *cluster.Workload) (n int, more bool) {
	v, ok := cluster.Of(after.Object).Partition()
	if !ok || b.subject.partition == nil || len(s.Patches) == 0 || s.Kind != StepUpdate && s.Kind != StepPartition {
		return 0, false
	}
	n = min(b.subject.partition.allowed(v), b.subject.total)
	return n, n > s.Updated
}

// withVerifyTitles replaces the titles of checks by what is really checked, whatever the author of
// the plan wrote.
func withVerifyTitles(steps []Step) []Step {
	out := slices.Clone(steps)
	for i := range out {
		if out[i].Kind == StepVerify && out[i].Verify != nil {
			out[i].Title = questionTitle(out[i].Verify)
		}
	}
	return out
}

// describedFields is one text for each field that changes, sorted.
func describedFields(list []rules.FieldChange) []string {
	var out []string
	for _, f := range list {
		text, _ := json.Marshal([]any{f.Path, f.Old, f.New}) // decoded JSON always encodes
		out = append(out, string(text))
	}
	slices.Sort(out)
	return out
}

// difference names the fields, without values, in which two lists differ.
func difference(said, does []string) string {
	var paths []string
	for _, pair := range [][2][]string{{said, does}, {does, said}} {
		for _, text := range pair[0] {
			var f []any
			if !slices.Contains(pair[1], text) && json.Unmarshal([]byte(text), &f) == nil {
				paths = append(paths, fmt.Sprint(f[0]))
			}
		}
	}
	slices.Sort(paths)
	return strings.Join(slices.Compact(paths), ", ")
}
