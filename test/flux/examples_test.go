// Package flux holds the example for Flux against Flux's own types.
package flux

import (
	"bytes"
	"os"
	"testing"

	kustomize "github.com/fluxcd/kustomize-controller/api/v1"
	source "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestRendered: Flux's types know every field, and each Kustomization has a source and,
// where it depends on another, that one beside it.
func TestRendered(t *testing.T) {
	text, err := os.ReadFile("../../plugins/flux/rendered.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var applied []kustomize.Kustomization
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(doc, &meta); err != nil {
			t.Fatal(err)
		}
		names[meta.Kind+" "+meta.Name] = true
		switch meta.APIVersion + " " + meta.Kind {
		case source.GroupVersion.String() + " " + source.GitRepositoryKind:
			strict(t, doc, &source.GitRepository{})
		case kustomize.GroupVersion.String() + " " + kustomize.KustomizationKind:
			var k kustomize.Kustomization
			strict(t, doc, &k)
			applied = append(applied, k)
		default:
			t.Errorf("%s %s is no kind of Flux's", meta.APIVersion, meta.Kind)
		}
	}
	if len(applied) != 2 {
		t.Errorf("%d Kustomizations", len(applied))
	}
	for _, k := range applied {
		if ref := k.Spec.SourceRef; !names[ref.Kind+" "+ref.Name] {
			t.Errorf("%s: no %s %s", k.Name, ref.Kind, ref.Name)
		}
		for _, d := range k.Spec.DependsOn {
			if !names[kustomize.KustomizationKind+" "+d.Name] {
				t.Errorf("%s: no Kustomization %s", k.Name, d.Name)
			}
		}
	}
}

func strict(t *testing.T, doc []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(doc, into); err != nil {
		t.Error(err)
	}
}
