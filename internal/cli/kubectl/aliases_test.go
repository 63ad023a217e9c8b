package kubectl

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestAliases_MeanKruiseKinds: a short name that no definition has means the kind, in any letters and with its
// group; one that the cluster serves itself is the cluster's.
func TestAliases_MeanKruiseKinds(t *testing.T) {
	served := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{kruise.KindImagePullJob, kruise.KindImageListPullJob} {
		served.Add(schema.GroupVersionKind{Group: kruise.Group, Version: kruise.V1alpha1, Kind: kind}, meta.RESTScopeNamespace)
	}
	m := aliased{served}
	for word, want := range map[string]string{"ipj": "imagepulljobs", "IPJ": "imagepulljobs", "ilpj": "imagelistpulljobs", "imagepulljobs": "imagepulljobs", "clonesets": "", "zz": ""} {
		got, err := m.ResourceFor(schema.GroupVersionResource{Resource: word})
		if got.Resource != want || (err == nil) != (want != "") {
			t.Errorf("%s: %v, %v", word, got, err)
		}
	}
	if kind, err := m.KindFor(schema.GroupVersionResource{Group: kruise.Group, Resource: "ipj"}); err != nil || kind.Kind != kruise.KindImagePullJob {
		t.Errorf("%v, %v", kind, err)
	}
	if _, err := m.KindFor(schema.GroupVersionResource{Group: "example.com", Resource: "ipj"}); err == nil {
		t.Error("a word of another group is taken")
	}
	served.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Ipj"}, meta.RESTScopeNamespace)
	if got, err := m.ResourceFor(schema.GroupVersionResource{Resource: "ipjs"}); err != nil || got.Group != "example.com" {
		t.Errorf("%v, %v", got, err)
	}
}
