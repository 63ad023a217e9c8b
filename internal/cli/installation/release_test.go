package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
)

// serving is a server that serves kinds in versions.
type serving struct {
	discovery.ServerResourcesInterface
	kinds map[string][]string
}

func (s serving) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	if s.kinds == nil {
		return nil, errors.New("forbidden")
	}
	list := &metav1.APIResourceList{}
	for _, kind := range s.kinds[groupVersion] {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: strings.ToLower(kind) + "s", Kind: kind}, metav1.APIResource{Name: strings.ToLower(kind) + "s/status", Kind: kind})
	}
	return list, nil
}

// TestRead: the image of the controllers tells, else the definitions, else what is served.
func TestRead(t *testing.T) {
	for _, c := range []struct{ name, definitions, image, forbidden, want string }{
		{"by the image", "1.8", "openkruise/kruise-manager:v1.8.4", "", "Kruise 1.8.4, by the image of its controllers"},
		{"an image without a release", "1.8", "example.com/kruise-manager:prod", "", "Kruise 1.8, by its definitions"},
		{"no controllers", "1.5", "", "", "Kruise 1.5, by its definitions"},
		{"controllers that may not be read", "1.9", "openkruise/kruise-manager:v1.9.0", "deployments", "Kruise 1.9, by its definitions"},
		{"after the newest release", "next", "", "", "Kruise after 1.9, by its definitions"},
		{"definitions that may not be read", "1.9", "", "customresourcedefinitions", "Kruise 1.9, by the versions that are served"},
		{"versions of several releases", "1.5", "", "customresourcedefinitions", "probably Kruise 1.8, by the versions that are served, which 1.5 to 1.8 have"},
		{"no Kruise", "", "", "", "not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects, server := clusterWith(t, c.definitions, c.image, c.forbidden)
			if got := Read(t.Context(), objects, server).String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := Read(t.Context(), fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds), serving{}); !got.Release.IsZero() {
		t.Errorf("of a server that answers nothing: %v", got)
	}
}

var kinds = map[schema.GroupVersionResource]string{deployments: "DeploymentList", definitions: "CustomResourceDefinitionList"}

// clusterWith has the definitions of a release, and controllers with an image; one resource may
// not be read.
func clusterWith(t *testing.T, release, image, forbidden string) (*fake.FakeDynamicClient, serving) {
	t.Helper()
	var objects []runtime.Object
	server := serving{kinds: map[string][]string{}}
	if release != "" {
		for _, text := range conformance.Definitions(t, release) {
			var crd map[string]any
			if err := yaml.Unmarshal(text, &crd); err != nil {
				t.Fatal(err)
			}
			objects = append(objects, &unstructured.Unstructured{Object: crd})
			group, _, _ := unstructured.NestedString(crd, "spec", "group")
			kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
			versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
			for _, v := range versions {
				at := group + "/" + v.(map[string]any)["name"].(string)
				server.kinds[at] = append(server.kinds[at], kind)
			}
		}
	}
	if image != "" {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "kruise-controller-manager", "namespace": "kruise-system", "labels": map[string]any{"control-plane": "controller-manager"}},
			"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "manager", "image": image}}}}},
		}})
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	client.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		refused := slices.Contains([]string{forbidden}, a.GetResource().Resource)
		return refused, nil, errors.New("forbidden")
	})
	return client, server
}
