package kruise_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func TestReleaseOfImage(t *testing.T) {
	for image, want := range map[string]string{
		"openkruise/kruise-manager:v1.8.4":                             "1.8.4",
		"registry.example.com:5000/mirror/kruise-manager:1.9.0":        "1.9.0",
		"openkruise/kruise-manager:v1.8.4-alpine":                      "1.8.4",
		"openkruise/kruise-manager:v1.8.4@sha256:0123":                 "1.8.4",
		"openkruise/kruise-manager:latest":                             "",
		"openkruise/kruise-manager@sha256:0123":                        "",
		"openkruise/kruise-manager:v1.8":                               "",
		"registry.example.com/kruise-manager:v1.8.4/other:2":           "",
		"example.com/my-kruise-manager:v1.8.4":                         "",
		"openkruise/kruise-manager:v11.8.4":                            "",
		"openkruise/kruise-manager:v1.99999999999999999999999999999.0": "",
	} {
		if r, ok := kruise.ReleaseOfImage(image); r.String() != want || ok != (want != "") {
			t.Errorf("%s: %q %t, want %q", image, r, ok, want)
		}
	}
}

// TestReleasesOf: the definitions of a release tell it, with their schemas exactly and
// without them as far as versions differ.
func TestReleasesOf(t *testing.T) {
	for name, want := range map[string]string{"1.5": "[1.5] true [1.5 1.6 1.7 1.8]", "1.8": "[1.8] true [1.5 1.6 1.7 1.8]", "1.9": "[1.9] true [1.9]", "next": "[next] true [next]"} {
		served, fields := map[string][]string{}, map[string]bool{}
		for _, c := range definitions(t, name) {
			for _, v := range c.Spec.Versions {
				served[c.Spec.Names.Kind] = append(served[c.Spec.Names.Kind], v.Name)
				eachField(v.Schema.OpenAPIV3Schema, "", func(path string) { fields[c.Spec.Names.Kind+v.Name+path] = true })
			}
		}
		d := kruise.Definitions{Served: served}
		versions, _ := kruise.ReleasesOf(d)
		d.Fields = func(kind, version, path string) bool { return fields[kind+version+path] }
		all, exact := kruise.ReleasesOf(d)
		if got := fmt.Sprintf("%v %t %v", all, exact, versions); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if all, exact := kruise.ReleasesOf(kruise.Definitions{}); len(all) > 0 || exact {
		t.Errorf("of nothing: %v %t", all, exact)
	}
	mixed := kruise.Definitions{Served: map[string][]string{"CloneSet": {"v1alpha1", "v1beta1"}}}
	if _, exact := kruise.ReleasesOf(mixed); exact {
		t.Error("one kind alone is no release")
	}
}
