package conformance

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
)

const (
	oneSubset = "apiVersion: apps.kruise.io/v1beta1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: sub}\nspec: {replicas: %d}\n"
	scaleTo   = "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web, namespace: sub, annotations: {of: apps.kruise.io/v1beta1 UnitedDeployment}}\nspec: {replicas: %d}\n"
	recording = `result: accepted
allocation: {a: %[1]d}
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web-a-<random>, namespace: sub, labels: {apps.kruise.io/subset-name: a}}
  spec: {replicas: %[1]d}
`
)

func recordedAs(steps string, replicas int) *fstest.MapFile {
	return data("steps: [%s]\n%s", steps, fmt.Sprintf(recording, replicas))
}

func data(format string, args ...any) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, format, args...)}
}

// renderOne makes one Deployment of all replicas, and refuses more than nine.
func renderOne(ud map[string]any, _ []map[string]any) ([]map[string]any, error) {
	replicas := field(ud, "spec", "replicas")
	if n, _ := replicas.(int64); n > 9 {
		return nil, errors.New("too many")
	}
	return []map[string]any{{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web-a", "namespace": "sub", "labels": map[string]any{subsetLabel: "a"}},
		"spec":     map[string]any{"replicas": replicas},
	}}, nil
}

const waiting = "apiVersion: conformance/v1\nkind: Wait\nseconds: 3\n---\napiVersion: conformance/v1\nkind: DeletePods\nall: true\n"

// TestSubsets: everything a user does in a case is understood.
func TestSubsets(t *testing.T) {
	failure := "events: [{reason: Failed SpecifySubsetReplicas, message: too many}]\n"
	refusal := data("result: rejected\nrefusal: {object: UnitedDeployment/web}\n")
	for _, tc := range []struct {
		name   string
		do     string
		after  *fstest.MapFile
		differ bool
	}{
		{"replaced", fmt.Sprintf(oneSubset, 4), recordedAs("", 4), false},
		{"scaled", fmt.Sprintf(scaleTo, 5), recordedAs("", 5), false},
		{"scaled, otherwise recorded", fmt.Sprintf(scaleTo, 5), recordedAs("", 6), true},
		{"patched", "apiVersion: conformance/v1\nkind: MergePatch\nof: apps.kruise.io/v1beta1 UnitedDeployment\npatch: {spec: {replicas: 6}}\n", recordedAs("", 6), false},
		{"deleted", "apiVersion: conformance/v1\nkind: DeleteObject\nof: apps.kruise.io/v1beta1 UnitedDeployment\n", data("result: accepted\nallocation: {}\nobjects: []\n"), false},
		{"waited", waiting, recordedAs("", 3), false},
		{"another object is gone", "apiVersion: conformance/v1\nkind: DeleteObject\nof: v1 Node\n", recordedAs("", 3), false},
		{"refused", fmt.Sprintf(oneSubset, 10), refusal, false},
		{"failed", fmt.Sprintf(scaleTo, 10), data("%s%s", failure, fmt.Sprintf(recording, 3)), false},
		{"failed, otherwise recorded", fmt.Sprintf(scaleTo, 10), recordedAs("", 10), true},
		{"unknown", "apiVersion: conformance/v1\nkind: Evict\nof: apps.kruise.io/v1beta1 UnitedDeployment\n", recordedAs("", 3), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := fstest.MapFS{
				"input.yaml": data(oneSubset, 3), "expected.yaml": recordedAs("next", 3),
				"next.yaml": data("%s", tc.do), "expected-after-next.yaml": tc.after,
			}
			if err := Subsets(Case{files: files}, renderOne); (err != nil) != tc.differ {
				t.Errorf("%v, want a difference: %v", err, tc.differ)
			}
		})
	}
}
