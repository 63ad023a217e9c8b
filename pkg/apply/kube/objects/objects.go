// Package objects reads and writes whole objects of any kind, as kubectl apply
// does on the server's side. It knows requests and answers, and neither what is
// applied in which order nor what is rolled out.
package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// ErrUnknownKind is wrapped where the server does not serve a kind.
var ErrUnknownKind = errors.New("the server has no such kind")

// Client reads and writes objects.
type Client struct {
	dynamic dynamic.Interface
	mapper  meta.ResettableRESTMapper
	// FieldManager is who writes.
	FieldManager string
}

// New returns a client; it sends nothing yet.
func New(cfg *rest.Config, fieldManager string) (*Client, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{FieldManager: fieldManager, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}
	c.dynamic, err = dynamic.NewForConfig(cfg)
	return c, err
}

// Namespaced reports whether objects of a kind live in namespaces.
func (c *Client) Namespaced(kind schema.GroupKind, versions ...string) (bool, error) {
	m, err := c.mapping(kind, versions...)
	if err != nil {
		return false, err
	}
	return m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// Version is the version in which the server prefers a kind to be written; "" where it
// does not serve it.
func (c *Client) Version(kind schema.GroupKind) string {
	m, err := c.mapping(kind)
	if err != nil {
		return ""
	}
	return m.GroupVersionKind.Version
}

// Forget makes the next question about kinds read them again: a definition was applied.
func (c *Client) Forget() { c.mapper.Reset() }

// discoveryDelay is how long a server may take to list a kind that it serves already.
const discoveryTimeout = 15 * time.Second

// AwaitKind waits until the server lists a kind as served. One that never does is no
// error here: the first write of an object is.
func (c *Client) AwaitKind(ctx context.Context, kind schema.GroupKind) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, discoveryTimeout, true, func(context.Context) (bool, error) {
		c.Forget()
		_, err := c.mapping(kind)
		return err == nil, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

func (c *Client) mapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m, err := c.mapper.RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) {
		return nil, errors.Join(ErrUnknownKind, err)
	}
	return m, err
}

// resource is where an object is read and written.
func (c *Client) resource(u *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := u.GroupVersionKind()
	m, err := c.mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	return c.dynamic.Resource(m.Resource).Namespace(u.GetNamespace()), nil
}

// Path is where an object is on the server; for a kind that is not served yet, what is
// known of it.
func (c *Client) Path(u *unstructured.Unstructured) string {
	gvk := u.GroupVersionKind()
	resource := "(" + gvk.Kind + ")"
	if m, err := c.mapping(gvk.GroupKind(), gvk.Version); err == nil {
		resource = m.Resource.Resource
	}
	return Path(gvk.GroupVersion().WithResource(resource), u.GetNamespace(), u.GetName())
}

// Path is where an object, or a subresource of it, is on a server; without a name,
// where all objects of its kind are.
func Path(r schema.GroupVersionResource, namespace, name string, sub ...string) string {
	parts := []string{"/apis", r.Group, r.Version}
	if r.Group == "" {
		parts = []string{"/api", r.Version}
	}
	if namespace != "" {
		parts = append(parts, "namespaces", namespace)
	}
	return path.Join(append(append(parts, r.Resource, name), sub...)...)
}

// Get reads the object that bears the name; nil where there is none.
func (c *Client) Get(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := c.resource(u)
	if err != nil {
		return nil, err
	}
	got, err := client.Get(ctx, u.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	return got, err
}

// List reads the objects of a kind that carry a label, in one namespace, or those
// that have none. A kind that is not served any more has no objects.
func (c *Client) List(ctx context.Context, kind schema.GroupKind, namespace, selector string) ([]unstructured.Unstructured, error) {
	m, err := c.mapping(kind)
	if errors.Is(err, ErrUnknownKind) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []unstructured.Unstructured
	err = Pages(ctx, c.dynamic.Resource(m.Resource).Namespace(namespace), metav1.ListOptions{LabelSelector: selector}, func(u *unstructured.Unstructured) error {
		out = append(out, *u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Delete deletes the very object that was read, and in the background what it owns.
// One that is gone already is no error.
func (c *Client) Delete(ctx context.Context, u *unstructured.Unstructured, dryRun bool) error {
	client, err := c.resource(u)
	if err != nil {
		return err
	}
	uid, background := u.GetUID(), metav1.DeletePropagationBackground
	err = client.Delete(ctx, u.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background, DryRun: dryRunOption(dryRun),
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func dryRunOption(run bool) []string {
	if run {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// ErrGone is wrapped where an object is deleted that was waited for.
var ErrGone = errors.New("it was deleted")

// Await watches one object until a condition holds. One that is deleted before is an
// error that wraps [ErrGone].
func (c *Client) Await(ctx context.Context, u *unstructured.Unstructured, holds func(*unstructured.Unstructured) bool) error {
	client, err := c.resource(u)
	if err != nil {
		return err
	}
	narrow := func(o metav1.ListOptions) metav1.ListOptions {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", u.GetName()).String()
		return o
	}
	_, err = watchtools.UntilWithSync(ctx, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, narrow(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, narrow(o))
		},
	}, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		got, ok := e.Object.(*unstructured.Unstructured)
		switch {
		case !ok || got.GetName() != u.GetName():
			return false, nil
		case holds(got):
			return true, nil
		case e.Type == watch.Deleted:
			return false, ErrGone
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// SetPaused sets the field at a path, by which a controller stops updating pods, to true,
// or removes it; of the object with this UID, never its successor.
func SetPaused(ctx context.Context, c dynamic.ResourceInterface, name, uid string, path []string, on bool, o metav1.PatchOptions) (*unstructured.Unstructured, error) {
	body, err := pausedPatch(uid, path, on)
	if err != nil {
		return nil, err
	}
	u, err := c.Patch(ctx, name, types.MergePatchType, body, o)
	if err != nil {
		return nil, fmt.Errorf("failed to patch: %w", err)
	}
	return u, nil
}

// pausedPatch is the merge patch of [SetPaused].
func pausedPatch(uid string, path []string, on bool) ([]byte, error) {
	var value any
	if on {
		value = true
	}
	for _, field := range slices.Backward(path) {
		value = map[string]any{field: value}
	}
	body, _ := value.(map[string]any)
	if body == nil {
		body = map[string]any{}
	}
	body["metadata"] = map[string]any{"uid": uid}
	return json.Marshal(body)
}
