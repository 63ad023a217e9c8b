package kruise_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]string{
		"1.8": "1.8", "v1.8": "1.8", "1.8.4": "1.8.4", "v1.9.0": "1.9.0", "1.9.0-rc.1": "1.9.0", "1.0": "1.0",
		"next": "next", "1.10": "next", "v1.11.2": "next",
		"": "", "1": "", "2.0": "", "0.10": "", "1.8.4.1": "", "1.x": "", "1.-1": "", "1.08": "", "latest": "", "master": "", "1.99999999999999999999": "", "v": "", "Next": "",
	} {
		r, err := kruise.ParseRelease(text)
		if r.String() != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v, want %q", text, r, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "1.9") {
			t.Errorf("%q: %v does not say what is wanted", text, err)
		}
	}
}

// TestRelease_Compare: releases are in order, and a minor release alone is its newest patch.
func TestRelease_Compare(t *testing.T) {
	var last kruise.Release
	for _, text := range []string{"1.0", "1.5.0", "1.5", "1.7.4", "1.7.5", "1.7", "1.8.0", "1.9.0", "1.9", "next"} {
		r, err := kruise.ParseRelease(text)
		if err != nil {
			t.Fatal(err)
		}
		if last.Compare(r) >= 0 || r.Compare(last) <= 0 || !last.IsBefore(r) {
			t.Errorf("%s is not after %s", r, last)
		}
		last = r
	}
	all := kruise.Releases()
	if len(all) != 11 || all[0] != kruise.Minor(0) || all[9] != kruise.NewestRelease || all[10] != kruise.Next {
		t.Errorf("%v", all)
	}
	if kruise.Minor(8).Before(kruise.Minor(8)) || !kruise.Minor(8).Before(kruise.Next) {
		t.Error("Before")
	}
}

// TestRelease_Serves: a version of one kind implies nothing about other kinds or groups.
func TestRelease_Serves(t *testing.T) {
	for _, c := range []struct {
		release, group, kind string
		want                 []string
	}{
		{"1.5", kruise.Group, "StatefulSet", []string{"v1alpha1", "v1beta1"}},
		{"1.8.4", kruise.Group, "CloneSet", []string{"v1alpha1"}},
		{"1.9", kruise.Group, "CloneSet", []string{"v1alpha1"}},
		{"1.9.0", kruise.Group, "SidecarSet", []string{"v1alpha1", "v1beta1"}},
		{"next", kruise.Group, "CloneSet", []string{"v1alpha1", "v1beta1"}},
		{"1.4", kruise.Group, "ImageListPullJob", nil},
		{"1.8", "apps", "StatefulSet", nil},
		{"1.8", kruise.Group, "PodUnavailableBudget", nil},
		{"1.8", kruise.PolicyGroup, "PodUnavailableBudget", []string{"v1alpha1"}},
	} {
		r, err := kruise.ParseRelease(c.release)
		if got := r.Versions(c.group, c.kind); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.release, c.kind, got, c.want)
		}
	}
}

// TestRelease_Absent: what a release lacks is found with its place, and whether it would be
// refused or dropped.
func TestRelease_Absent(t *testing.T) {
	const object = `
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: s}
spec:
  initContainers: [{name: i, restartPolicy: Always}, {name: j, restartPolicy: Never}]
  containers: [{name: a}, {name: b, resourcesPolicy: {targetContainersMode: sum}, shareVolumeDevicePolicy: {}}]
  patchPodMetadata: []
`
	const clone = `
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: s}
spec: {progressDeadlineSeconds: 600, lifecycle: {preNormal: {markPodNotReady: true}}}
`
	for _, c := range []struct{ name, object, release, want string }{
		{"sidecars", object, "1.6", "spec.containers[1].resourcesPolicy dropped since Kruise 1.9, spec.initContainers[0].restartPolicy dropped since Kruise 1.7"},
		{"sidecars", object, "1.8.4", "spec.containers[1].resourcesPolicy dropped since Kruise 1.9"},
		{"sidecars", object, "1.9.0", ""},
		{"deadline", clone, "1.8", "spec.progressDeadlineSeconds refused since Kruise 1.9"},
		{"preNormal", clone, "1.3", "spec.lifecycle.preNormal refused since Kruise 1.4, spec.progressDeadlineSeconds refused since Kruise 1.9"},
		{"not ours", "apiVersion: apps/v1\nkind: CloneSet\nspec: {progressDeadlineSeconds: 1}\n", "1.0", ""},
		{"another shape", "apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nspec: {containers: text}\n", "1.0", ""},
		{"a mapping", "apiVersion: apps.kruise.io/v1alpha1\nkind: NodeImage\nspec: {images: {nginx: {sandboxConfig: {labels: {a: b}}}}}\n", "1.3", "spec.images[nginx].sandboxConfig refused since Kruise 1.4"},
	} {
		var value any
		if err := yaml.Unmarshal([]byte(c.object), &value); err != nil {
			t.Fatal(err)
		}
		r, err := kruise.ParseRelease(c.release)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range r.Absent(tree.FromValue(value)) {
			how := "refused"
			if a.Kept {
				how = "dropped"
			}
			got = append(got, a.Path+" "+how+" "+a.Words())
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s in %s: %s, want %s", c.name, c.release, text, c.want)
		}
	}
}

func TestSpan_Words(t *testing.T) {
	for want, s := range map[string]kruise.Span{
		"since Kruise 1.9":                  {First: kruise.Minor(9)},
		"only in Kruise 1.8":                {First: kruise.Minor(8), Last: kruise.Minor(8)},
		"until Kruise 1.4":                  {First: kruise.Minor(0), Last: kruise.Minor(4)},
		"from Kruise 1.4 to 1.9":            {First: kruise.Minor(4), Last: kruise.Minor(9)},
		"only in versions after Kruise 1.9": {First: kruise.Next},
	} {
		if got := s.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

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

// fieldSet has fields by kind, version and path.
type fieldSet map[string]bool

func (f fieldSet) Has(kind, version, path string) bool { return f[kind+version+path] }

// TestReleasesOf: the definitions of a release show which it is, with their schemas exactly and
// without them as far as versions differ.
func TestReleasesOf(t *testing.T) {
	for name, want := range map[string]string{"1.5": "[1.5] true [1.5 1.6 1.7 1.8]", "1.8": "[1.8] true [1.5 1.6 1.7 1.8]", "1.9": "[1.9] true [1.9]", "next": "[next] true [next]"} {
		served, fields := map[string][]string{}, fieldSet{}
		for _, c := range definitions(t, name) {
			for _, v := range c.Spec.Versions {
				served[c.Spec.Names.Kind] = append(served[c.Spec.Names.Kind], v.Name)
				eachField(v.Schema.OpenAPIV3Schema, "", func(path string) { fields[c.Spec.Names.Kind+v.Name+path] = true })
			}
		}
		d := kruise.Definitions{Served: served}
		versions, _ := kruise.ReleasesOf(d)
		d.Schemas = fields
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
