package plan

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// hub is the newest version of Kruise's workloads, which their types are in.
const hub = "v1beta1"

// versionOf is the version in which an object is patched. An Advanced StatefulSet
// loses fields in v1alpha1, so it never is (docs/kruise/workloads.md#cloneset-in-two-versions).
func versionOf(w *cluster.Workload) string {
	if w.Group == kruise.Group && w.Kind == kruise.KindStatefulSet {
		return hub
	}
	return w.Version
}

// targetOf names an object as its patches are written.
func targetOf(w *cluster.Workload) Target {
	return Target{APIVersion: w.Group + "/" + versionOf(w), Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
}

// specOf returns the object's spec as decoded JSON, in a version.
func specOf(w *cluster.Workload, version string) (map[string]any, error) {
	v, err := tree.Plain(w.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w, err)
	}
	if w.Group == kruise.Group && version != hub {
		delete(v, "status")
		v["apiVersion"], v["kind"] = w.Group+"/"+hub, w.Kind
		n, _, err := kruise.FromHub(tree.FromValue(v), version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		v, _ = tree.Value(n).(map[string]any)
	}
	spec, _ := v["spec"].(map[string]any)
	return spec, nil
}

// compareSpecs finds out whether more than template and partition
// changes, and lists what changes outside of the template.
func (b *comparison) compareSpecs() error {
	version := versionOf(b.present)
	base, like := b.present, b.desired // a default that only one of them spells out is no change
	if v, ok := cluster.Of(b.present.Object).Partition(); ok {
		if _, both := cluster.Of(b.desired.Object).Partition(); both {
			base, like = withPartition(base, v), withPartition(like, v)
		}
	}
	old, err := specOf(base, version)
	if err != nil {
		return err
	}
	updated, err := specOf(like, version)
	if err != nil {
		return err
	}
	for _, field := range changedKeys(old, updated) {
		if !templateField(b.present, field) {
			b.specChanged = true
			b.strategyChanged = b.strategyChanged || field != "replicas"
		}
	}
	if old, err = specOf(b.present, version); err != nil {
		return err
	}
	wanted, err := specOf(b.desired, version)
	if err != nil {
		return err
	}
	b.plan.Change.Spec = b.plan.specChanges(b.present, old, wanted)
	return nil
}

// templateField reports whether a field of the spec is what revisions are made of.
func templateField(w *cluster.Workload, field string) bool {
	if w.Kind != kruise.KindSidecarSet {
		return field == "template"
	}
	return slices.Contains(rules.SidecarSetFields(), field)
}

// SpecWrite is a field of the spec, outside of the pod template, that a plan writes
// beside partition and pause, such as the update strategy.
type SpecWrite struct {
	// Path is from the top of the object: spec.updateStrategy.type.
	Path string `json:"path"`
	// Old is what the object has, nil where it has nothing or was not compared.
	Old any `json:"old,omitempty"`
	// New is what is written, nil where the field is removed. What is likely to be
	// secret in both is [redact.Masked].
	New any `json:"new,omitempty"`
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
	forward := p.specWrites(target.Object(), Patch{Type: PatchMerge, Body: specBody(mergeDifference(old, wanted))})
	back := p.specWrites(target.Object(), Patch{Type: PatchMerge, Body: specBody(mergeDifference(wanted, old))})
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
	patch.Body = p.Masked(patch)
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

// SelectorOf returns spec.selector of a workload, nil for none.
func SelectorOf(w *cluster.Workload) *metav1.LabelSelector { return cluster.Of(w.Object).Selector() }

// strategyPath is the path of partition and paused in an object's spec
// (docs/kruise/workloads.md#fields-to-patch). It is nil for kinds that have no partition.
func strategyPath(w *cluster.Workload) []string {
	switch {
	case w.Group == kruise.Group && w.Kind == kruise.KindCloneSet && w.Version == "v1alpha1", w.Kind == kruise.KindSidecarSet:
		return []string{"updateStrategy"}
	case w.Group == kruise.Group, w.Kind == kruise.KindStatefulSet:
		return []string{"updateStrategy", "rollingUpdate"}
	}
	return nil
}

// withObject returns the workload with another object.
func withObject(w *cluster.Workload, obj any) *cluster.Workload {
	out := *w
	out.Object = obj
	return &out
}

// withPartition returns a workload that differs in its partition only.
func withPartition(w *cluster.Workload, v intstr.IntOrString) *cluster.Workload {
	return withObject(w, cluster.Of(w.Object).WithPartition(v))
}

// withPaused returns a Deployment that differs in its pause only.
func withPaused(w *cluster.Workload, paused bool) *cluster.Workload {
	return withObject(w, cluster.Of(w.Object).WithPaused(paused))
}

func copyOrNew[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	out := *v
	return &out
}

// PartitionPath is where an object of a kind, as it is served in a version, has its
// partition; nil for kinds that have none.
func PartitionPath(group, kind, version string) []string {
	w := &cluster.Workload{Ref: cluster.Ref{Group: group, Kind: kind}, Version: version}
	path := strategyPath(w)
	if path == nil {
		return nil
	}
	return slices.Concat([]string{"spec"}, path, []string{"partition"})
}

// PausedPath is where an object of a kind, as it is served in a version, has the field that pauses
// its controller; nil for kinds that cannot.
func PausedPath(group, kind, version string) []string {
	if group == "apps" && kind == kruise.KindDeployment {
		return []string{"spec", "paused"}
	}
	if group == "apps" {
		return nil
	}
	path := PartitionPath(group, kind, version)
	if path == nil {
		return nil
	}
	return append(path[:len(path)-1:len(path)-1], "paused")
}

// PartitionOf is the partition in force of a workload, in text; "" for one that has
// none.
func PartitionOf(w *cluster.Workload) string {
	if w == nil {
		return ""
	}
	v, ok := cluster.Of(w.Object).Partition()
	if !ok {
		return ""
	}
	return v.String()
}

// WithPods returns a workload that asks for a number of pods; one that has a pod per
// node, or the pods of others, has the number in its status. A negative number leaves it as
// it is.
func WithPods(w *cluster.Workload, pods int) *cluster.Workload {
	if pods < 0 {
		return w
	}
	return withObject(w, cluster.Of(w.Object).WithPods(pods))
}
