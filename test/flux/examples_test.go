// Package flux holds the examples for Flux against Flux's own types.
package flux

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	kustomize "github.com/fluxcd/kustomize-controller/api/v1"
	source "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestExamples_AreKnownToFlux: Flux's types know every field, and each Kustomization has its source and
// what it depends on beside it.
func TestExamples_AreKnownToFlux(t *testing.T) {
	for file, applied := range map[string]int{"rendered.yaml": 2, "oci.yaml": 1} {
		t.Run(file, func(t *testing.T) {
			names, list := read(t, filepath.Join("..", "..", "plugins", "flux", file))
			if len(list) != applied {
				t.Errorf("%d Kustomizations", len(list))
			}
			for _, k := range list {
				if ref := k.Spec.SourceRef; !names[ref.Kind+" "+ref.Name] {
					t.Errorf("%s: no %s %s", k.Name, ref.Kind, ref.Name)
				}
				for _, d := range k.Spec.DependsOn {
					if !names[kustomize.KustomizationKind+" "+d.Name] {
						t.Errorf("%s: no Kustomization %s", k.Name, d.Name)
					}
				}
			}
		})
	}
}

// read returns the objects of a file, as KIND NAME, and its Kustomizations.
func read(t *testing.T, file string) (map[string]bool, []kustomize.Kustomization) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var list []kustomize.Kustomization
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(doc, &meta); err != nil {
			t.Fatal(err)
		}
		names[meta.Kind+" "+meta.Name] = true
		switch meta.APIVersion + " " + meta.Kind {
		case source.GroupVersion.String() + " " + source.GitRepositoryKind:
			strict(t, doc, &source.GitRepository{})
		case source.GroupVersion.String() + " " + source.OCIRepositoryKind:
			strict(t, doc, &source.OCIRepository{})
		case kustomize.GroupVersion.String() + " " + kustomize.KustomizationKind:
			var k kustomize.Kustomization
			strict(t, doc, &k)
			list = append(list, k)
		default:
			t.Errorf("%s %s is not a kind of Flux's", meta.APIVersion, meta.Kind)
		}
	}
	return names, list
}

func strict(t *testing.T, doc []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(doc, into); err != nil {
		t.Error(err)
	}
}
