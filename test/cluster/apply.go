package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// fieldManager owns what Apply writes.
const fieldManager = "test"

// Apply puts the YAML documents into the cluster by server-side apply, namespaced
// objects without a namespace into the one given, and returns them as stored.
func (c *Cluster) Apply(tb testing.TB, namespace, documents string) []*unstructured.Unstructured {
	tb.Helper()
	stored, err := c.ApplyAll(tb.Context(), namespace, strings.NewReader(documents))
	if err != nil {
		tb.Fatal(err)
	}
	return stored
}

// ApplyAll is Apply outside of tests. It stops at the first refused object.
func (c *Cluster) ApplyAll(ctx context.Context, namespace string, documents io.Reader) ([]*unstructured.Unstructured, error) {
	return c.apply(ctx, namespace, documents, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
}

// DryRun is ApplyAll without storing anything.
func (c *Cluster) DryRun(ctx context.Context, namespace string, documents io.Reader) ([]*unstructured.Unstructured, error) {
	return c.apply(ctx, namespace, documents, metav1.ApplyOptions{
		FieldManager: fieldManager, Force: true, DryRun: []string{metav1.DryRunAll},
	})
}

func (c *Cluster) apply(ctx context.Context, namespace string, documents io.Reader, options metav1.ApplyOptions) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	in := yaml.NewYAMLOrJSONDecoder(documents, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := in.Decode(&object.Object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return out, err
		}
		if len(object.Object) == 0 {
			continue
		}
		client, err := c.Resource(object, namespace)
		if err != nil {
			return out, err
		}
		stored, err := client.Apply(ctx, object.GetName(), object, options)
		if err != nil {
			return out, fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		out = append(out, stored)
	}
}

// Resource is the client for the kind of an object: in the object's namespace, or
// in the one given when it names none.
func (c *Cluster) Resource(object *unstructured.Unstructured, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(object)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(c.admin)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client.Resource(mapping.Resource), nil
	}
	if own := object.GetNamespace(); own != "" {
		namespace = own
	}
	return client.Resource(mapping.Resource).Namespace(namespace), nil
}

// mapping asks the server again when it does not know the kind: tests add kinds while they run.
func (c *Cluster) mapping(object *unstructured.Unstructured) (*meta.RESTMapping, error) {
	kind := object.GroupVersionKind()
	out, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset()
		return c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	return out, err
}
