package standin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/split"
)

// unitedKind is the kind, and fieldManager in whose name workloads of subsets are
// applied.
const (
	unitedKind   = kruise.KindUnitedDeployment
	fieldManager = "kruise-stand-ins"
)

// subsetKind is one of the kinds that subsets can have.
type subsetKind struct {
	apiVersion, kind string
	resource         schema.GroupVersionResource
	from             func(*store) cache.SharedIndexInformer
}

var subsetKinds = []subsetKind{
	{kruise.Group + "/" + kruise.V1beta1, kruise.KindCloneSet, acted[kruise.KindCloneSet], func(s *store) cache.SharedIndexInformer { return s.kruise[kruise.KindCloneSet] }},
	{kruise.Group + "/" + kruise.V1beta1, kruise.KindStatefulSet, acted[kruise.KindStatefulSet], func(s *store) cache.SharedIndexInformer { return s.kruise[kruise.KindStatefulSet] }},
	{"apps/v1", kruise.KindDeployment, native("deployments"), func(s *store) cache.SharedIndexInformer { return s.deployments }},
	{"apps/v1", kruise.KindStatefulSet, native("statefulsets"), func(s *store) cache.SharedIndexInformer { return s.statefulSets }},
}

func native(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

// uniteds runs the controller of UnitedDeployments (docs/kruise/distribution.md#uniteddeployment).
func (s *standIns) uniteds(ctx context.Context) error {
	l := s.newLoop(s.unite)
	l.start(ctx)
	errs := []error{l.wake(s.store.kruise[unitedKind], itself)}
	for _, k := range subsetKinds {
		errs = append(errs, l.wake(k.from(s.store), owner(unitedKind)))
	}
	errs = append(errs, l.wake(s.store.pods, func(before, after metav1.Object) []types.NamespacedName {
		p := either(before, after)
		if p.GetLabels()[kruise.SubsetNameLabel] == "" {
			return nil
		}
		return slices.DeleteFunc(s.store.allOf(unitedKind), func(key types.NamespacedName) bool { return key.Namespace != p.GetNamespace() })
	}))
	return errors.Join(errs...)
}

// united is one UnitedDeployment in one pass.
type united struct {
	*standIns

	object *unstructured.Unstructured
	typed  kruise.UnitedDeployment
	// workloads are those that it owns.
	workloads []subsetWorkload
	revision  string
	// marks say which subsets have room; they are nil unless pods are moved.
	marks map[string]kruise.UnitedDeploymentCondition
	again time.Duration
}

type subsetWorkload struct {
	*unstructured.Unstructured

	kind subsetKind
}

func (w subsetWorkload) subset() string { return w.GetLabels()[kruise.SubsetNameLabel] }

func (s *standIns) unite(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	o := s.store.object(unitedKind, key)
	switch {
	case o == nil || o.GetDeletionTimestamp() != nil:
		return 0, nil
	case !s.seen.all(o.GetUID()):
		return notSeen, nil
	}
	u := &united{standIns: s, object: o}
	if _, err := kruise.Decode(nodeOf(o.Object), &u.typed); err != nil {
		return 0, err
	}
	u.mark(time.Now())
	err := u.run(ctx)
	return u.again, err
}

func (u *united) run(ctx context.Context) error {
	if err := u.observe(); err != nil {
		return err
	}
	var err error
	if u.revision, err = u.syncRevision(ctx); err != nil {
		return err
	}
	wanted, err := u.render()
	if err != nil {
		u.events.Event(u.object, corev1.EventTypeWarning, "Failed SpecifySubsetReplicas", err.Error())
		return err
	}
	for _, w := range wanted {
		if err := u.put(ctx, w); err != nil {
			u.events.Event(u.object, corev1.EventTypeWarning, "FailedUpdateSubset", err.Error())
			return err
		}
	}
	if err := u.prune(ctx, wanted); err != nil {
		return err
	}
	status := u.status(wanted)
	if reflect.DeepEqual(status, u.typed.Status) {
		return nil
	}
	stored, err := u.setStatus(ctx, u.object, status)
	if err == nil {
		u.seen.note(u.object.GetUID(), u.store.kruise[unitedKind], stored)
	}
	return gone(err)
}

// observe finds the workloads that the object owns, by name.
func (u *united) observe() error {
	for _, k := range subsetKinds {
		for _, o := range owned[any](k.from(u.store), u.object.GetUID()) {
			w, err := generic(o, k.apiVersion, k.kind)
			if err != nil {
				return err
			}
			u.workloads = append(u.workloads, subsetWorkload{w, k})
		}
	}
	slices.SortStableFunc(u.workloads, func(a, b subsetWorkload) int { return strings.Compare(a.GetName(), b.GetName()) })
	return nil
}

// render has the stage of rendering make the workloads of the subsets.
func (u *united) render() ([]subsetWorkload, error) {
	known, err := u.known()
	if err != nil {
		return nil, err
	}
	around := []*resource.Resource{inCluster(known.Object)}
	for _, w := range u.workloads {
		around = append(around, inCluster(w.Object))
	}
	for _, p := range inNamespace[*corev1.Pod](u.store.pods, u.object.GetNamespace()) {
		// A pod that waits for a node counts through the marks, which know for how long.
		if p.Labels[kruise.SubsetNameLabel] == "" || waits(p) {
			continue
		}
		o, err := generic(p, "v1", "Pod")
		if err != nil {
			return nil, err
		}
		around = append(around, inCluster(o.Object))
	}
	own := inCluster(u.object.Object)
	list, err := split.Run(rendering([]*resource.Resource{own}, around, u.object.GetNamespace()), []*resource.Resource{own})
	if err != nil {
		return nil, err
	}
	out := make([]subsetWorkload, len(list))
	for i, r := range list {
		if out[i], err = u.workload(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// workload is a rendered one as Kruise makes it: under a random name or that which
// it has, with the revision, and with the object as its controller.
func (u *united) workload(r *resource.Resource) (subsetWorkload, error) {
	value, _ := tree.Value(r.Node()).(map[string]any)
	o, err := normal(value)
	if err != nil {
		return subsetWorkload{}, err
	}
	i := slices.IndexFunc(subsetKinds, func(k subsetKind) bool { return k.apiVersion == o.GetAPIVersion() && k.kind == o.GetKind() })
	w := subsetWorkload{o, subsetKinds[max(i, 0)]}
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(labels, kruise.SourceLabel)
	delete(annotations, kruise.StrategyAnnotation)
	labels[kruise.ControllerRevisionHashLabel] = u.revision
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	o.SetNamespace(u.object.GetNamespace())
	o.SetOwnerReferences([]metav1.OwnerReference{controlledBy(u.object)})
	o.SetName(u.object.GetName() + "-" + w.subset() + "-" + rand.String(5))
	if have, ok := u.present(w); ok {
		o.SetName(have.GetName())
	}
	err = unstructured.SetNestedField(o.Object, u.revision, "spec", "template", "metadata", "labels", kruise.ControllerRevisionHashLabel)
	return w, err
}

// present is the workload that a subset has.
func (u *united) present(w subsetWorkload) (subsetWorkload, bool) {
	i := slices.IndexFunc(u.workloads, func(have subsetWorkload) bool {
		return have.subset() == w.subset() && have.kind.resource == w.kind.resource
	})
	if i < 0 {
		return subsetWorkload{}, false
	}
	return u.workloads[i], true
}

// put applies a workload. The server would leave one that has everything as it is, so it is not asked about one that
// nothing was written to since.
func (u *united) put(ctx context.Context, w subsetWorkload) error {
	if have, ok := u.present(w); ok {
		if last, ok := u.applied.Load(have.GetUID()); ok && last.(applied).holds(w, have) { //nolint:forcetypeassert // nothing else is stored
			return nil
		}
	}
	stored, err := u.dynamic.Resource(w.kind.resource).Namespace(w.GetNamespace()).
		Apply(ctx, w.GetName(), w.Unstructured, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err == nil {
		u.seen.note(u.object.GetUID(), w.kind.from(u.store), stored)
		u.applied.Store(stored.GetUID(), applied{w.Unstructured, stored})
	}
	return err
}

// applied is what was applied to the workload of a subset, and what became of it.
type applied struct{ wanted, stored *unstructured.Unstructured }

// holds reports whether the workload is to be what it was, and is that but for its status.
func (a applied) holds(w, have subsetWorkload) bool {
	return a.stored.GetGeneration() == have.GetGeneration() && maps.Equal(a.stored.GetLabels(), have.GetLabels()) && maps.Equal(a.stored.GetAnnotations(), have.GetAnnotations()) &&
		reflect.DeepEqual(a.stored.GetOwnerReferences(), have.GetOwnerReferences()) && reflect.DeepEqual(a.wanted.Object, w.Object)
}

// prune deletes workloads of subsets that are gone, of other kinds, and second ones
// of a subset.
func (u *united) prune(ctx context.Context, wanted []subsetWorkload) error {
	for _, have := range u.workloads {
		if slices.ContainsFunc(wanted, func(w subsetWorkload) bool {
			return w.kind.resource == have.kind.resource && w.GetName() == have.GetName()
		}) {
			continue
		}
		err := u.dynamic.Resource(have.kind.resource).Namespace(have.GetNamespace()).
			Delete(ctx, have.GetName(), metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
		if err := gone(err); err != nil {
			return err
		}
	}
	return nil
}

// revisionData is what the object's revisions are made of: its template of a
// workload.
func (u *united) revisionData() ([]byte, error) {
	template, _, _ := unstructured.NestedMap(u.object.Object, "spec", "template")
	template["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
}
