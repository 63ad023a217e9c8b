// Package united writes to UnitedDeployments what a rollout of their subsets needs.
// The controller writes the workloads of subsets again all the time: what is not
// written here does not last (docs/kruise/distribution.md#what-a-subsets-workload-looks-like and
// docs/kruise/distribution.md#update-strategy).
package united

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// manager is the name under which is written.
const manager = "kubectl-kruise"

// held is a partition that no subset grows beyond: the controller takes as much of it
// as the subset has replicas.
const held = math.MaxInt32

// Object is a UnitedDeployment.
type Object struct {
	Namespace, Name, UID string
	// Version is the API version that it was read in.
	Version string
	// Kind is that of its subsets' workloads, TemplateField where their template is.
	Kind          schema.GroupKind
	TemplateField string
	// Subsets are the names of its subsets in the order given.
	Subsets []string
	// Template is spec.template, and Spec the whole.
	Template, Spec map[string]any
	// Partitions are how many pods of each subset keep the old template; a subset
	// that is not in it keeps none.
	Partitions map[string]int64
	// Strategy is spec.updateStrategy; nil for none.
	Strategy map[string]any
	// Start is what there was before the rollout that has not ended; nil where none has begun.
	Start *Start
	// Generation of the spec, Observed that which the controller has acted upon.
	Generation, Observed int64

	annotated bool
}

// Start is what a UnitedDeployment was before a rollout. The object itself keeps it, in
// [kruise.BeforeRolloutAnnotation], until all subsets have followed: its strategy is the
// rollout's meanwhile, and any process may be the one that ends it.
type Start struct {
	// Revision is the name of the revision that most pods had.
	Revision string `json:"revision"`
	// Strategy is spec.updateStrategy; nil for none.
	Strategy map[string]any `json:"updateStrategy,omitempty"`
}

// kinds are those of the templates.
var kinds = map[string]schema.GroupKind{
	"cloneSetTemplate":            {Group: kruise.Group, Kind: kruise.KindCloneSet},
	"advancedStatefulSetTemplate": {Group: kruise.Group, Kind: kruise.KindStatefulSet},
	"statefulSetTemplate":         {Group: "apps", Kind: kruise.KindStatefulSet},
	"deploymentTemplate":          {Group: "apps", Kind: kruise.KindDeployment},
}

// Resource is where UnitedDeployments of a version are served.
func Resource(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: kruise.Group, Version: version, Resource: "uniteddeployments"}
}

// Read reads a UnitedDeployment.
func Read(u *unstructured.Unstructured) *Object {
	o := &Object{Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Version: u.GroupVersionKind().Version, Generation: u.GetGeneration()}
	o.Spec, _, _ = unstructured.NestedMap(u.Object, "spec")
	o.Template, _, _ = unstructured.NestedMap(u.Object, "spec", "template")
	for field, kind := range kinds {
		if o.Template[field] != nil {
			o.Kind, o.TemplateField = kind, field
		}
	}
	subsets, _, _ := unstructured.NestedSlice(u.Object, "spec", "topology", "subsets")
	for _, s := range subsets {
		if m, ok := s.(map[string]any); ok {
			name, _ := m["name"].(string)
			o.Subsets = append(o.Subsets, name)
		}
	}
	o.Strategy, _, _ = unstructured.NestedMap(u.Object, "spec", "updateStrategy")
	o.Partitions = partitionsIn(o.Strategy)
	o.annotated = len(u.GetAnnotations()) > 0
	if text := u.GetAnnotations()[kruise.BeforeRolloutAnnotation]; text != "" {
		var start Start
		if json.Unmarshal([]byte(text), &start) == nil {
			o.Start = &start
		}
	}
	o.Observed, _, _ = unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return o
}

// PodTemplate is the template of pods in a template of the subsets' workloads.
func PodTemplate(template map[string]any) map[string]any {
	for field := range kinds {
		if pods, ok, _ := unstructured.NestedMap(template, field, "spec", "template"); ok {
			return pods
		}
	}
	return nil
}

// Paced reports whether partitions hold subsets back: Deployments have none.
func (o *Object) Paced() bool { return o.Kind.Kind != kruise.KindDeployment }

// Release writes a new template and, in the same request, holds every subset back: no
// pod gets the new template before a user allows it. What there was before is kept, unless a
// rollout has not ended yet.
func (o *Object) Release(ctx context.Context, c dynamic.Interface, template map[string]any) error {
	if err := o.NoteStart(ctx, c); err != nil {
		return err
	}
	return o.Write(ctx, c, o.ReleasePatch(template))
}

// Write sends a JSON patch, and waits until the controller has acted upon it.
func (o *Object) Write(ctx context.Context, c dynamic.Interface, patch []any) error {
	stored, err := o.patch(ctx, c, types.JSONPatchType, patch)
	if err != nil {
		return err
	}
	return o.Await(ctx, c, stored.GetGeneration())
}

// ReleasePatch is the JSON patch of [Object.Release].
func (o *Object) ReleasePatch(template map[string]any) []any {
	patch := append(o.startPatch(), operation("replace", "/spec/template", template))
	if !o.Paced() {
		return patch
	}
	return append(patch, operation("add", "/spec/updateStrategy", holding(o.Subsets)))
}

// holding is the update strategy that holds subsets back.
func holding(subsets []string) map[string]any {
	partitions := map[string]any{}
	for _, s := range subsets {
		partitions[s] = int64(held)
	}
	return map[string]any{"type": "Manual", "manualUpdate": map[string]any{"partitions": partitions}}
}

// ReleaseSpec is the JSON patch that writes the whole spec of the final state. Where the template is
// new, every subset is held back; otherwise the partitions stay as they are, and those of subsets
// that are gone are left out, which a webhook refuses. It is nil where nothing is left to write.
func (o *Object) ReleaseSpec(final *unstructured.Unstructured) []any {
	to := Read(final)
	spec, patch := runtime.DeepCopyJSON(to.Spec), []any{operation("test", "/metadata/uid", o.UID)}
	changed := !SameTemplate(o.Template, to.Template)
	if changed {
		patch = o.startPatch()
	}
	switch strategy := o.Spec["updateStrategy"]; {
	case changed && to.Paced():
		spec["updateStrategy"] = holding(to.Subsets)
	case strategy == nil:
		delete(spec, "updateStrategy")
	default:
		spec["updateStrategy"] = runtime.DeepCopyJSONValue(strategy)
		for name := range o.Partitions {
			if !slices.Contains(to.Subsets, name) {
				unstructured.RemoveNestedField(spec, "updateStrategy", "manualUpdate", "partitions", name)
			}
		}
	}
	if tree.Same(spec, o.Spec) {
		return nil
	}
	return append(patch, operation("replace", "/spec", spec))
}

// Partition lets all pods of a subset but so many follow the template.
func (o *Object) Partition(ctx context.Context, c dynamic.Interface, subset string, n int32) error {
	_, err := o.patch(ctx, c, types.MergePatchType, o.PartitionPatch(subset, n))
	return err
}

// PartitionPatch is the merge patch of [Object.Partition].
func (o *Object) PartitionPatch(subset string, n int32) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"uid": o.UID},
		"spec":     map[string]any{"updateStrategy": map[string]any{"manualUpdate": map[string]any{"partitions": map[string]any{subset: int64(n)}}}},
	}
}

func (o *Object) patch(ctx context.Context, c dynamic.Interface, kind types.PatchType, v any) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out, err := c.Resource(Resource(o.Version)).Namespace(o.Namespace).Patch(ctx, o.Name, kind, body, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("uniteddeployment/%s: %w", o.Name, err)
	}
	return out, nil
}

// Await waits until the controller has acted upon a generation of the spec.
func (o *Object) Await(ctx context.Context, c dynamic.Interface, generation int64) error {
	client := c.Resource(Resource(o.Version)).Namespace(o.Namespace)
	only := fields.OneTermEqualSelector("metadata.name", o.Name).String()
	source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, l metav1.ListOptions) (runtime.Object, error) {
			l.FieldSelector = only
			return client.List(ctx, l)
		},
		WatchFuncWithContext: func(ctx context.Context, l metav1.ListOptions) (watch.Interface, error) {
			l.FieldSelector = only
			return client.Watch(ctx, l)
		},
	}, c)
	_, err := watchtools.UntilWithSync(ctx, source, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		u, ok := e.Object.(*unstructured.Unstructured)
		switch {
		case !ok || u.GetName() != o.Name:
			return false, nil
		case e.Type == watch.Deleted || string(u.GetUID()) != o.UID:
			return true, fmt.Errorf("uniteddeployment/%s was deleted", o.Name)
		}
		return Read(u).Observed >= generation, nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Get reads a UnitedDeployment in the newest version that is served; the error is the server's
// NotFound where it is not there.
func Get(ctx context.Context, c dynamic.Interface, namespace, name string) (*Object, error) {
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		u, err := c.Resource(Resource(version)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			return Read(u), nil
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read uniteddeployment/%s: %w", name, err)
		}
	}
	return nil, apierrors.NewNotFound(Resource(kruise.V1beta1).GroupResource(), name)
}
