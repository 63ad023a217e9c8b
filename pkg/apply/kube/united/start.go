package united

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// BeginPatch is the JSON patch that keeps what there is before a rollout whose template is there
// already: partitions held the subsets back, and the rollout removes them. It is nil where all pods
// have the template, or where a rollout has not ended yet.
func (o *Object) BeginPatch(ctx context.Context, c dynamic.Interface) ([]any, error) {
	if o.Start != nil {
		return nil, nil
	}
	if err := o.noteStart(ctx, c, withPartitions(o.Strategy, nil)); err != nil {
		return nil, err
	}
	revisions, err := o.Revisions(ctx, c)
	if err != nil {
		return nil, err
	}
	if r, ok := o.Present(revisions); ok && r.Name == o.Start.Revision {
		o.Start = nil
		return nil, nil
	}
	return o.startPatch(), nil
}

// NoteStart fills in Start, unless it is there. It writes nothing.
func (o *Object) NoteStart(ctx context.Context, c dynamic.Interface) error {
	return o.noteStart(ctx, c, o.OwnStrategy())
}

// noteStart is [Object.NoteStart] with the strategy that the object has when the rollout has ended.
func (o *Object) noteStart(ctx context.Context, c dynamic.Interface, strategy map[string]any) error {
	if o.Start != nil {
		return nil
	}
	revisions, err := o.Revisions(ctx, c)
	if err != nil {
		return err
	}
	pods, err := o.pods(ctx, c, revisions)
	if err != nil {
		return err
	}
	most, _ := o.Present(revisions)
	for _, r := range revisions {
		if pods[r.Name] > pods[most.Name] {
			most = r
		}
	}
	o.Start = &Start{Revision: most.Name, Strategy: strategy}
	return nil
}

// startPatch are the operations of a JSON patch that keep Start in the object.
func (o *Object) startPatch() []any {
	patch := []any{operation("test", "/metadata/uid", o.UID)}
	if o.Start == nil {
		return patch
	}
	text, err := json.Marshal(o.Start)
	if err != nil {
		return patch // decoded JSON always encodes
	}
	if !o.annotated {
		return append(patch, operation("test", "/metadata/annotations", nil),
			operation("add", "/metadata/annotations", map[string]any{kruise.BeforeRolloutAnnotation: string(text)}))
	}
	return append(patch, operation("add", startPath, string(text)))
}

// startPath is the annotation of Start in a JSON patch.
var startPath = "/metadata/annotations/" + strings.ReplaceAll(kruise.BeforeRolloutAnnotation, "/", "~1")

func operation(op, path string, value any) map[string]any {
	return map[string]any{"op": op, "path": path, "value": value}
}

// Final is how many pods of a subset the partition keeps when the rollout has ended.
func (o *Object) Final(subset string) int64 { return partitionsIn(o.FinalStrategy())[subset] }

// FinalStrategy is spec.updateStrategy when the rollout has ended: what it was before.
func (o *Object) FinalStrategy() map[string]any {
	if o.Start != nil {
		return o.Start.Strategy
	}
	return o.OwnStrategy()
}

// OwnStrategy is spec.updateStrategy without the partitions by which rollouts hold subsets back.
func (o *Object) OwnStrategy() map[string]any {
	partitions := maps.Clone(o.Partitions)
	maps.DeleteFunc(partitions, func(_ string, n int64) bool { return n == held })
	return withPartitions(o.Strategy, partitions)
}

// Settle writes the strategy that the object has when a rollout has ended. Subsets that keep
// more pods than it says are held as they are now; without any, nothing is left of the rollout.
func (o *Object) Settle(ctx context.Context, c dynamic.Interface, strategy map[string]any, kept []string) error {
	if o.Start == nil && maps.Equal(partitionsIn(strategy), o.Partitions) {
		return nil
	}
	_, err := o.patch(ctx, c, types.MergePatchType, o.SettlePatch(strategy, kept))
	return err
}

// SettlePatch is the merge patch of [Object.Settle].
func (o *Object) SettlePatch(strategy map[string]any, kept []string) map[string]any {
	partitions := map[string]any{}
	for _, subset := range o.Subsets {
		partitions[subset] = nil
	}
	for subset, n := range partitionsIn(strategy) {
		partitions[subset] = n
	}
	for _, subset := range kept {
		if n, ok := o.Partitions[subset]; ok {
			partitions[subset] = n
		}
	}
	metadata := map[string]any{"uid": o.UID}
	if len(kept) == 0 {
		metadata["annotations"] = map[string]any{kruise.BeforeRolloutAnnotation: nil}
	}
	patch := map[string]any{"metadata": metadata}
	if !o.Paced() {
		return patch
	}
	spec := map[string]any{"updateStrategy": nil}
	if strategy != nil || len(kept) > 0 {
		next := map[string]any{}
		maps.Copy(next, strategy)
		if next["manualUpdate"] = nil; strategy["manualUpdate"] != nil || len(kept) > 0 {
			next["manualUpdate"] = map[string]any{"partitions": partitions}
		}
		spec["updateStrategy"] = next
	}
	patch["spec"] = spec
	return patch
}

// Held reports whether a partition of a rollout holds a subset back.
func (o *Object) Held() bool {
	for _, n := range o.Partitions {
		if n == held {
			return true
		}
	}
	return false
}

// withPartitions is a strategy with other partitions; nil stays nil without any.
func withPartitions(strategy map[string]any, partitions map[string]int64) map[string]any {
	if maps.Equal(partitions, partitionsIn(strategy)) {
		return strategy
	}
	out := map[string]any{"type": "Manual"}
	if strategy != nil {
		out = runtime.DeepCopyJSON(strategy)
	}
	if len(partitions) == 0 {
		unstructured.RemoveNestedField(out, "manualUpdate")
		return out
	}
	all := map[string]any{}
	for subset, n := range partitions {
		all[subset] = n
	}
	out["manualUpdate"] = map[string]any{"partitions": all}
	return out
}

// partitionsIn are the partitions of a strategy, whatever decoded it.
func partitionsIn(strategy map[string]any) map[string]int64 {
	out := map[string]int64{}
	partitions, _, _ := unstructured.NestedFieldNoCopy(strategy, "manualUpdate", "partitions")
	all, _ := partitions.(map[string]any)
	for subset, v := range all {
		switch v := v.(type) {
		case int64:
			out[subset] = v
		case float64:
			out[subset] = int64(v)
		}
	}
	return out
}

// errNoStart indicates that it is not known what a UnitedDeployment was before a rollout.
var errNoStart = errors.New("the revision before this rollout is not known")

// Former is the revision that the rollout which has not ended started from: the one that is
// noted, or else, of the pods that do not have the present template, the one of most.
func (o *Object) Former(ctx context.Context, c dynamic.Interface) (Revision, error) {
	revisions, err := o.Revisions(ctx, c)
	if err != nil {
		return Revision{}, err
	}
	present, _ := o.Present(revisions)
	if o.Start != nil && o.Start.Revision != "" {
		for _, r := range revisions {
			if r.Name == o.Start.Revision {
				return r, nil
			}
		}
		return Revision{}, fmt.Errorf("uniteddeployment/%s: revision %s is no longer stored: %w", o.Name, o.Start.Revision, errNoStart)
	}
	pods, err := o.pods(ctx, c, revisions)
	if err != nil {
		return Revision{}, err
	}
	var most Revision
	for _, r := range revisions {
		if r.Name != present.Name && pods[r.Name] > pods[most.Name] {
			most = r
		}
	}
	if most.Name == "" {
		return most, fmt.Errorf("uniteddeployment/%s: all pods have the present template: %w", o.Name, errNoStart)
	}
	return most, nil
}

// PartitionIn is how many pods of a subset a strategy keeps.
func PartitionIn(strategy map[string]any, subset string) int64 { return partitionsIn(strategy)[subset] }
