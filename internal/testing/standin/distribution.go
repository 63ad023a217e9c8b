package standin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fanout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// distributions runs the controller of ResourceDistributions
// (docs/kruise/distribution.md#resourcedistribution).
func (s *standIns) distributions(ctx context.Context) error {
	l := s.newLoop(s.distribute)
	l.start(ctx)
	mine := owner(kruise.KindResourceDistribution)
	copies := func(before, after metav1.Object) []types.NamespacedName {
		keys := mine(before, after)
		for i := range keys {
			keys[i].Namespace = ""
		}
		return keys
	}
	return errors.Join(
		l.wake(s.store.kruise[kruise.KindResourceDistribution], itself),
		l.wake(s.store.configMaps, copies), l.wake(s.store.secrets, copies),
		l.wake(s.store.namespaces, func(metav1.Object, metav1.Object) []types.NamespacedName {
			return s.store.allOf(kruise.KindResourceDistribution)
		}),
	)
}

// distribution is one ResourceDistribution in one pass.
type distribution struct {
	*standIns

	object *unstructured.Unstructured
	typed  kruise.ResourceDistribution
	// kind and name are those of the copies, by namespace in present as they are.
	kind, name string
	present    map[string]*unstructured.Unstructured
	report     distributionReport
}

func (s *standIns) distribute(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	o := s.store.object(kruise.KindResourceDistribution, key)
	switch {
	case o == nil || o.GetDeletionTimestamp() != nil:
		return 0, nil
	case !s.seen.all(o.GetUID()):
		return notSeen, nil
	}
	d := &distribution{standIns: s, object: o, report: distributionReport{}}
	if _, err := kruise.Decode(nodeOf(o.Object), &d.typed); err != nil {
		return 0, err
	}
	template := tree.Get(nodeOf(o.Object), "spec", "resource")
	d.kind, d.name = tree.StrAt(template, "kind"), tree.StrAt(template, "metadata", "name")
	return 0, d.run(ctx)
}

// run brings every copy up to date and tells of what failed.
func (d *distribution) run(ctx context.Context) error {
	if err := d.observe(); err != nil {
		return err
	}
	targets, err := d.render(false)
	if err != nil {
		return err
	}
	free, err := d.render(true)
	if err != nil {
		return err
	}
	var errs []error
	for namespace, made := range free {
		errs = append(errs, d.put(ctx, namespace, made))
	}
	for namespace := range targets {
		if free[namespace] == nil {
			d.report.add("ConflictOccurred", namespace, fmt.Sprintf("%s %s/%s is not controlled by this ResourceDistribution", d.kind, namespace, d.name))
		}
	}
	for namespace, have := range d.present {
		if targets[namespace] == nil && metav1.IsControlledBy(have, d.object) {
			errs = append(errs, d.remove(ctx, namespace))
		}
	}
	d.missing(targets)
	status := d.report.status(&d.typed, len(targets), time.Now())
	if !reflect.DeepEqual(status, d.typed.Status) {
		stored, err := d.setStatus(ctx, d.object, status)
		if err == nil {
			d.seen.note(d.object.GetUID(), d.store.kruise[kruise.KindResourceDistribution], stored)
		}
		errs = append(errs, gone(err))
	}
	return errors.Join(errs...)
}

// cacheOf is where the copies are.
func (d *distribution) cacheOf() cache.SharedIndexInformer {
	if d.kind == "Secret" {
		return d.store.secrets
	}
	return d.store.configMaps
}

// observe finds what stands where copies go.
func (d *distribution) observe() error {
	d.present = map[string]*unstructured.Unstructured{}
	for _, o := range d.cacheOf().GetStore().List() {
		m, _ := o.(metav1.Object)
		if m.GetName() != d.name {
			continue
		}
		u, err := generic(o, "v1", d.kind)
		if err != nil {
			return err
		}
		d.present[m.GetNamespace()] = u
	}
	return nil
}

// render has the stage of rendering make the copies, by namespace: for all targets
// or only where nothing of others is in the way.
func (d *distribution) render(onlyFree bool) (map[string]*unstructured.Unstructured, error) {
	var around []*resource.Resource
	for _, n := range every[*corev1.Namespace](d.store.namespaces) {
		u, err := generic(n, "v1", "Namespace")
		if err != nil {
			return nil, err
		}
		around = append(around, inCluster(u.Object))
	}
	if onlyFree {
		for _, o := range d.present {
			around = append(around, inCluster(o.Object))
		}
	}
	own := inCluster(d.object.Object)
	list, err := fanout.Run(rendering([]*resource.Resource{own}, around, ""), []*resource.Resource{own})
	out := map[string]*unstructured.Unstructured{}
	for _, r := range list {
		u, err := d.copied(r)
		if err != nil {
			return nil, err
		}
		out[u.GetNamespace()] = u
	}
	return out, err
}

// copied is a copy as Kruise makes it: with the object as its controller, and
// without the label by which renderings are found again.
func (d *distribution) copied(r *resource.Resource) (*unstructured.Unstructured, error) {
	value, _ := tree.Value(r.Node()).(map[string]any)
	u, err := normal(value)
	if err != nil {
		return nil, err
	}
	labels := u.GetLabels()
	delete(labels, kruise.SourceLabel)
	u.SetLabels(labels)
	u.SetOwnerReferences(append(u.GetOwnerReferences(), controlledBy(d.object)))
	return u, nil
}

// put creates a copy, or replaces one whose content differs.
func (d *distribution) put(ctx context.Context, namespace string, made *unstructured.Unstructured) error {
	client := d.dynamic.Resource(d.resourceOf()).Namespace(namespace)
	have := d.present[namespace]
	if have == nil {
		stored, err := client.Create(ctx, made, metav1.CreateOptions{})
		return d.wrote("CreateResourceFailed", namespace, stored, err)
	}
	if reflect.DeepEqual(body(have), body(made)) {
		return nil
	}
	made.SetLabels(joined(have.GetLabels(), made.GetLabels()))
	made.SetAnnotations(joined(have.GetAnnotations(), made.GetAnnotations()))
	made.SetUID(have.GetUID())
	stored, err := client.Update(ctx, made, metav1.UpdateOptions{})
	return d.wrote("UpdateResourceFailed", namespace, stored, err)
}

func (d *distribution) remove(ctx context.Context, namespace string) error {
	err := d.dynamic.Resource(d.resourceOf()).Namespace(namespace).Delete(ctx, d.name, metav1.DeleteOptions{})
	return d.wrote("DeleteResourceFailed", namespace, nil, gone(err))
}

// wrote keeps what became of a write.
func (d *distribution) wrote(failure, namespace string, stored *unstructured.Unstructured, err error) error {
	switch {
	case err != nil:
		d.report.add(failure, namespace, err.Error())
	case stored != nil:
		d.seen.note(d.object.GetUID(), d.cacheOf(), stored)
	}
	return err
}

func (d *distribution) resourceOf() schema.GroupVersionResource {
	if d.kind == "Secret" {
		return corev1.SchemeGroupVersion.WithResource("secrets")
	}
	return corev1.SchemeGroupVersion.WithResource("configmaps")
}

// body is what is compared: all but metadata and what every object of the kind has.
func body(o *unstructured.Unstructured) map[string]any {
	out := maps.Clone(o.Object)
	for _, key := range []string{"metadata", "status", "apiVersion", "kind"} {
		delete(out, key)
	}
	return out
}
