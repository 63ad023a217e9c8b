// Package migrate carries migrations of replicas out: it reads both workloads and
// what refers to them, writes what pkg/plan/migrate decides, and keeps the record in
// the cluster. Every write depends on what was read, so that two who drive the same
// migration, or one who was killed and comes back, do nothing twice.
package migrate

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// manager is the name under which is written.
const manager = "kubectl-kruise"

// Client reads and writes what takes part in migrations of one namespace.
type Client struct {
	dynamic   dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string
	// DryRun has the server answer without writing.
	DryRun bool
}

// New returns a client; it sends nothing yet.
func New(cfg *rest.Config, namespace string) (*Client, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{namespace: namespace, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}
	c.dynamic, err = dynamic.NewForConfig(cfg)
	return c, err
}

// Version is the API version that the server prefers for a kind. It is an error that
// the server has no such kind.
func (c *Client) Version(kind *migrate.Kind) (schema.GroupVersionResource, error) {
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("the server has no %s: %w", kind.Word, err)
	}
	return m.Resource, nil
}

// Get reads a workload; nil where there is none.
func (c *Client) Get(ctx context.Context, kind *migrate.Kind, name string) (*unstructured.Unstructured, error) {
	gvr, err := c.Version(kind)
	if err != nil {
		return nil, err
	}
	got, err := c.of(gvr).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	return got, err
}

// Create makes a workload, in the version that it is written in.
func (c *Client) Create(ctx context.Context, kind *migrate.Kind, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gvr, err := c.Version(kind)
	if err != nil {
		return nil, err
	}
	return c.of(gvr).Create(ctx, u, metav1.CreateOptions{FieldManager: manager, DryRun: c.dry()})
}

func (c *Client) of(gvr schema.GroupVersionResource) dynamic.ResourceInterface {
	return c.dynamic.Resource(gvr).Namespace(c.namespace)
}

func (c *Client) dry() []string {
	if c.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// merge sends a merge patch that only holds for an object as it was read.
func (c *Client) merge(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured, patch map[string]any) error {
	meta, _ := patch["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["resourceVersion"], meta["uid"] = u.GetResourceVersion(), string(u.GetUID())
	patch["metadata"] = meta
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = c.of(gvr).Patch(ctx, u.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager, DryRun: c.dry()})
	return err
}

// annotated is the merge patch of the record; nil takes it away.
func annotated(value any) map[string]any {
	return annotations(map[string]any{migrate.Annotation: value})
}

func annotations(values map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": values}}
}

// note writes the record onto an object, or takes it away, whatever else changes
// meanwhile.
func (c *Client) note(ctx context.Context, gvr schema.GroupVersionResource, name string, value any) error {
	for {
		u, err := c.of(gvr).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if have, ok := u.GetAnnotations()[migrate.Annotation]; value == nil && !ok || have == value {
			return nil
		}
		if err := c.merge(ctx, gvr, u, annotated(value)); !apierrors.IsConflict(err) {
			return err
		}
	}
}
