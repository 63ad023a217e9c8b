package migrate

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// Follower is an object that names the workload in its targetRef.
type Follower struct {
	// Resource is the singular of its kind, in lower case.
	Resource, Name string
	// Twin is the name of the one that is made for the new workload before pods move,
	// where a targetRef cannot change; "" where the object itself follows afterwards.
	Twin   string
	gvr    schema.GroupVersionResource
	object *unstructured.Unstructured
}

// followed are the kinds that may not be there, and whether their targetRef is
// immutable (docs/kruise/protection.md#podunavailablebudget,
// docs/kruise/distribution.md#workloadspread).
var followed = []struct {
	schema.GroupKind
	fixed bool
}{
	{schema.GroupKind{Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler"}, false},
	{schema.GroupKind{Group: "policy.kruise.io", Kind: kruise.KindPodUnavailableBudget}, true},
	{schema.GroupKind{Group: "apps.kruise.io", Kind: kruise.KindWorkloadSpread}, true},
}

// optional finds a kind that a cluster need not have; ok is false where it has none.
func (c *Client) optional(kind schema.GroupKind) (gvr schema.GroupVersionResource, ok bool, err error) {
	m, err := c.mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return gvr, false, nil
	}
	if err != nil {
		return gvr, false, err
	}
	return m.Resource, true, nil
}

// followers finds what names the source in a targetRef.
func (c *Client) followers(ctx context.Context, a *Surroundings, source, destination migrate.Workload) error {
	for _, k := range followed {
		gvr, ok, err := c.optional(k.GroupKind)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		err = c.each(ctx, a, gvr, func(u *unstructured.Unstructured) {
			if targetOf(u, "targetRef") != source {
				return
			}
			f := Follower{Resource: strings.ToLower(k.Kind), Name: u.GetName(), gvr: gvr, object: u}
			if k.fixed {
				f.Twin = twin(f.Name, source, destination)
			}
			a.Followers = append(a.Followers, f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// targetOf is what a reference in a spec names.
func targetOf(u *unstructured.Unstructured, field string) migrate.Workload {
	target, _, _ := unstructured.NestedStringMap(u.Object, "spec", field)
	version, _ := schema.ParseGroupVersion(target["apiVersion"])
	return migrate.Workload{Group: version.Group, Kind: target["kind"], Name: target["name"]}
}

// twin names what replaces an object once the workload is of another kind: with
// the kind behind its name, or without where it had one.
func twin(name string, from, to migrate.Workload) string {
	suffix := func(w migrate.Workload) string {
		return "-" + strings.ToLower(migrate.Of(w.Group, w.Kind).Word)
	}
	if bare, ok := strings.CutSuffix(name, suffix(from)); ok && bare != "" {
		return bare
	}
	return name + suffix(to)
}

// createTwins makes the twins, before the new workload has pods.
func (c *Client) createTwins(ctx context.Context, list []Follower, gvr schema.GroupVersionResource, to migrate.Workload) error {
	for _, f := range list {
		if f.Twin == "" {
			continue
		}
		if err := c.createTwin(ctx, f, gvr, to); err != nil {
			return fmt.Errorf("%s/%s: %w", f.Resource, f.Name, err)
		}
	}
	return nil
}

func (c *Client) createTwin(ctx context.Context, f Follower, gvr schema.GroupVersionResource, to migrate.Workload) error {
	there, err := c.resource(f.gvr).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range there.Items {
		if targetOf(&there.Items[i], "targetRef") == to {
			return nil
		}
	}
	u, err := recreated(f.object, f.Twin, reference(gvr, to))
	if err != nil {
		return err
	}
	_, err = c.resource(f.gvr).Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
	return err
}

// recreated is an object before it is created again, with a reference of its own.
func recreated(of *unstructured.Unstructured, name string, target map[string]any) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": of.DeepCopy().Object["spec"]}}
	u.SetAPIVersion(of.GetAPIVersion())
	u.SetKind(of.GetKind())
	u.SetName(name)
	u.SetLabels(of.GetLabels())
	u.SetAnnotations(of.GetAnnotations())
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", lastApplied)
	return u, unstructured.SetNestedMap(u.Object, target, "spec", "targetRef")
}

// lastApplied is of the object that was applied alone.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func reference(gvr schema.GroupVersionResource, to migrate.Workload) map[string]any {
	return map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": to.Kind, "name": to.Name}
}

// follow points all of them at the new workload, and none at the old
// one: it has no pods any more.
func (c *Client) follow(ctx context.Context, list []Follower, gvr schema.GroupVersionResource, to migrate.Workload) error {
	if err := c.createTwins(ctx, list, gvr, to); err != nil {
		return err
	}
	for _, f := range list {
		uid := f.object.GetUID()
		var err error
		if f.Twin != "" {
			err = c.resource(f.gvr).Delete(ctx, f.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		} else {
			err = c.pointAt(ctx, f, gvr, to)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s/%s: %w", f.Resource, f.Name, err)
		}
	}
	return nil
}

// pointAt changes the reference, whatever else changes meanwhile.
func (c *Client) pointAt(ctx context.Context, f Follower, gvr schema.GroupVersionResource, to migrate.Workload) error {
	for {
		u, err := c.resource(f.gvr).Get(ctx, f.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if targetOf(u, "targetRef") != targetOf(f.object, "targetRef") {
			return nil // another user has pointed it elsewhere, or this process has
		}
		err = c.merge(ctx, f.gvr, u, map[string]any{"spec": map[string]any{"targetRef": reference(gvr, to)}})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}
