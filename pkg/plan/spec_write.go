package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SpecWrite is a field of the spec, outside of the pod template, that a plan writes
// beside partition and pause, such as the update strategy.
type SpecWrite struct {
	// Path is from the top of the object: spec.updateStrategy.type.
	Path string
	// Old is what the object has, nil where it has nothing or was not compared.
	Old any
	// New is what is written, nil where the field is removed. What is likely to be
	// secret in both is [mask.Masked].
	New any
}

// SpecWrites are the fields outside of the pod template that the plan writes: those that
// change, where the plan was compared with the object, otherwise all that its patches have.
func (p *Plan) SpecWrites() []SpecWrite {
	if p.Change.Spec != nil {
		return p.Change.Spec
	}
	var out []SpecWrite
	for i := range p.Steps {
		for j := range p.Steps[i].Patches {
			if p.Steps[i].Kind == StepUpdate {
				out = append(out, p.specWrites(p.Target.Object(), p.Steps[i].Patches[j])...)
			}
		}
	}
	return out
}

// specChanges lists what differs between two specs of the target, outside of the template.
func (p *Plan) specChanges(w *cluster.Workload, old, wanted map[string]any) []SpecWrite {
	target := targetOf(w)
	forward := p.specWrites(target.Object(), Patch{Type: PatchMerge, Body: at(mergeDifference(old, wanted))})
	back := p.specWrites(target.Object(), Patch{Type: PatchMerge, Body: at(mergeDifference(wanted, old))})
	out := make([]SpecWrite, 0, len(forward))
	for _, f := range forward {
		for _, b := range back {
			if b.Path == f.Path {
				f.Old = b.New
			}
		}
		out = append(out, f)
	}
	return out
}

// mergeDifference is the merge patch that makes one mapping of another.
func mergeDifference(old, wanted map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range changedKeys(old, wanted) {
		before, isMap := old[key].(map[string]any)
		after, both := wanted[key].(map[string]any)
		if isMap && both {
			out[key] = mergeDifference(before, after)
			continue
		}
		out[key] = wanted[key]
	}
	return out
}

// specWrites are the fields that a patch of an object writes outside of the pod template.
func (p *Plan) specWrites(object Target, patch Patch) []SpecWrite {
	var out []SpecWrite
	gv, _ := schema.ParseGroupVersion(object.APIVersion)
	steers := [][]string{PartitionPath(gv.Group, object.Kind, gv.Version), PausedPath(gv.Group, object.Kind, gv.Version)}
	patch.Body = p.Shown(patch)
	writes, err := fieldWrites(&patch)
	if err != nil {
		return nil
	}
	for _, w := range writes {
		if w.op == "test" || len(w.path) < 2 || templateField(&cluster.Workload{Ref: cluster.Ref{Kind: object.Kind}}, w.path[1]) ||
			slices.ContainsFunc(steers, func(path []string) bool { return slices.Equal(path, w.path) }) {
			continue
		}
		out = append(out, SpecWrite{Path: strings.Join(w.path, "."), New: w.value})
	}
	return out
}
