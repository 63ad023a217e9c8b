package fn

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// old are all annotations that an orchestrator has for an object.
var old = map[string]string{
	filePath: "a.yaml", index: "2", legacyPath: "a.yaml", legacyIndex: "2", seqIndent: "wide", packagePath: "p",
	prefix + "id": "7", "config.k8s.io/id": "7", prefix + "annotations-migration-resource-id": "7",
	prefixes: "base-", suffixes: "-x",
	prevNames: "web,base-web", prevSpaces: "default,shop", prevKinds: "CloneSet,Other",
	prefix + "refBy": "a", prefix + "generatorBehavior": "merge", prefix + "needsHashSuffix": "enabled",
	"kustomize.config.k8s.io/id": "kind: CloneSet", "kustomize.config.k8s.io/needs-hash": "true",
	origin: "path: a.yaml", transformers: "- a", "somebody.else/x": "old",
}

func TestHeir(t *testing.T) {
	everywhere := map[string]string{
		filePath: "a.yaml", legacyPath: "a.yaml", seqIndent: "wide", packagePath: "p",
		prefixes: "base-", suffixes: "-x", origin: "path: a.yaml", transformers: "- a", "mine": "new",
	}
	with := func(more map[string]string) map[string]string {
		maps.Copy(more, everywhere)
		return more
	}
	tests := map[string]struct {
		heir heir
		want map[string]string
	}{
		"workload": {
			heir{first: true, named: true, was: "CloneSet", kind: "Deployment"},
			with(map[string]string{index: "2", legacyIndex: "2", prevNames: "web,base-web", prevSpaces: "default,shop", prevKinds: "Deployment,Other"}),
		},
		"piece": {
			heir{named: true, rest: "-a", was: "CloneSet", kind: "Deployment"},
			with(map[string]string{prevNames: "web-a,base-web-a", prevSpaces: "default,shop", prevKinds: "Deployment,Other"}),
		},
		"named otherwise": {heir{was: "CloneSet", kind: "ConfigMap"}, with(map[string]string{})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := resource.Derived(tree.Map("metadata", tree.Map("annotations", tree.Map("mine", "new", prefix+"id", "stale"))), &resource.Resource{})
			tc.heir.passAnnotations(annotations(old), r)
			if diff := cmp.Diff(tc.want, tree.Strings(tree.Get(r.Node(), "metadata", "annotations"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHeir_RecreatedObjectKeepsAnnotations: an object that is recreated loses nothing.
func TestHeir_RecreatedObjectKeepsAnnotations(t *testing.T) {
	r := resource.Derived(tree.Map("metadata", tree.Map()), &resource.Resource{})
	heir{same: true}.passAnnotations(annotations(old), r)
	got := tree.Strings(tree.Get(r.Node(), "metadata", "annotations"))
	for key, value := range old {
		if want := map[bool]string{true: value}[internal(key)]; got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

// TestHeir_KeepsSharedMetadataApart: metadata that two objects share stays apart.
func TestHeir_KeepsSharedMetadataApart(t *testing.T) {
	metadata := tree.Map("annotations", tree.Map("mine", "new"))
	a := resource.Derived(tree.Map("metadata", metadata), &resource.Resource{})
	b := resource.Derived(tree.Map("metadata", metadata), &resource.Resource{})
	heir{first: true}.passAnnotations(annotations(old), a)
	heir{}.passAnnotations(annotations(map[string]string{}), b)
	if a.Annotation(index) != "2" || b.Annotation(index) != "" || len(tree.Get(metadata, "annotations").Content) != 2 {
		t.Error("what one got, the other has")
	}
}

func annotations(m map[string]string) *tree.Node {
	values := map[string]any{}
	for k, v := range m {
		values[k] = v
	}
	return tree.FromValue(values)
}
