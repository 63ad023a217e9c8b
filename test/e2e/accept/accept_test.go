// Package accept holds what is rendered against a real API server: every
// object that rendering makes, of every recorded input and every example, for
// every version of Kubernetes, must be one that the server takes.
package accept

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
)

// TestServer_AcceptsRenderedObjects: a dry run of creating each object, with strict field
// validation. Namespaces are mapped to one that exists.
func TestServer_AcceptsRenderedObjects(t *testing.T) {
	c, namespace := cluster.Shared(t, kruise.API())
	version, err := c.Version()
	if err != nil {
		t.Fatal(err)
	}
	minor, err := stage.ParseKubernetes(version)
	if err != nil {
		t.Fatal(err)
	}
	all, list := newRendering(), inputs(t)
	all.gather(t, list, slices.Concat(variants(minor), versions(minor)))
	judge(t, all.refused)
	all.gather(t, slices.Concat(strange(list), crossed(list)), variants(minor))
	s := newServer(t, c, namespace)
	texts := slices.Sorted(maps.Keys(all.objects))
	accounts(t, c, namespace, all)
	refusals := make([]error, len(texts))
	each(len(texts), 8, func(i int) { refusals[i] = s.refuses(t.Context(), all.objects[texts[i]].object) })
	for i, err := range refusals {
		if err != nil {
			t.Errorf("%s: %v\n%s", all.objects[texts[i]].from, err, texts[i])
		}
	}
	t.Logf("%s: %d different objects were sent", version, len(texts))
}

// accounts makes the service accounts that pods name: a pod is refused without.
func accounts(t *testing.T, c *cluster.Cluster, namespace string, all *rendering) {
	t.Helper()
	names := map[string]bool{}
	for _, m := range all.objects {
		if name, _, _ := unstructured.NestedString(m.object.Object, "spec", "serviceAccountName"); name != "" && m.object.GetKind() == "Pod" {
			names[name] = true
		}
	}
	for name := range names {
		_, err := c.Client().CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

// server asks the API server.
type server struct {
	client    dynamic.Interface
	mapper    meta.RESTMapper
	namespace string
}

func newServer(t *testing.T, c *cluster.Cluster, namespace string) *server {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(c.Client().Discovery())
	if err != nil {
		t.Fatal(err)
	}
	return &server{client, restmapper.NewDiscoveryRESTMapper(groups), namespace}
}

// refuses tells why the server would not create the object. One that exists
// has come through all checks.
func (s *server) refuses(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		if strings.HasPrefix(kind.Group, "keda.") || strings.HasPrefix(kind.Group, "autoscaling.k8s.io") {
			return nil // add-ons that the cluster has not; references in them are rewritten
		}
		return err
	}
	var client dynamic.ResourceInterface = s.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object = object.DeepCopy()
		object.SetNamespace(s.namespace)
		client = s.client.Resource(mapping.Resource).Namespace(s.namespace)
	}
	got, err := client.Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	gone := slices.DeleteFunc(dropped(object.Object, got.Object, ""), func(path string) bool { return theirs(object, path) })
	if len(gone) > 0 {
		return fmt.Errorf("%s %s: the server dropped %s", object.GetKind(), object.GetName(), strings.Join(gone, ", "))
	}
	return nil
}
