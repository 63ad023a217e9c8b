package change

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// FuzzSetArguments: arguments of set image and set resources are refused, or written to the one
// container as they were given; the same once more changes nothing.
func FuzzSetArguments(f *testing.F) {
	f.Add("cloneset/web app=registry.example.com/web:2", "cpu=200m,memory=512Mi", "cpu=1e-1")
	f.Add("cloneset web *=web@sha256:1", "cpu=", "=1")
	f.Add("app=a app=b", "cpu=1,cpu=2", "cpu=9223372036854775807Ei")
	f.Fuzz(func(t *testing.T, args, limits, requests string) {
		if len(args)+len(limits)+len(requests) > 256 {
			return
		}
		web := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "web:1"}}}}},
		}}
		if _, images, err := parseImages(strings.Fields(args)); err == nil && setImages(web, images) == nil {
			containers, err := matching(web, "app")
			if err != nil || len(containers) != 1 {
				t.Fatal(containers, err)
			}
			image, _ := containers[0]["image"].(string)
			if err := kruise.CheckImage(image); err != nil {
				t.Errorf("%q writes %q: %v", args, image, err)
			}
		}
		wanted, err := parseResources(limits, requests)
		if err != nil {
			return
		}
		if err := setResources(web, "*", wanted); err != nil {
			t.Fatal(err)
		}
		once := web.DeepCopy()
		if err := setResources(web, "*", wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once.Object, web.Object); diff != "" {
			t.Errorf("%q, %q: the second time changes\n%s", limits, requests, diff)
		}
	})
}
