package argocd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestExamples: Argo CD's own types know every field of the examples.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../plugins/argocd/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for _, doc := range examples(t, file) {
			var meta metav1.TypeMeta
			if err := yaml.Unmarshal(doc, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			into := map[string]any{"Application": &v1alpha1.Application{}, "ApplicationSet": &v1alpha1.ApplicationSet{}, "AppProject": &v1alpha1.AppProject{}}[meta.Kind]
			if into == nil || meta.APIVersion != "argoproj.io/v1alpha1" {
				t.Errorf("%s: %s %s is no kind of Argo CD's", file, meta.APIVersion, meta.Kind)
				continue
			}
			seen[meta.Kind] = true
			if err := yaml.UnmarshalStrict(doc, into); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, kind := range []string{"Application", "ApplicationSet"} {
		if !seen[kind] {
			t.Errorf("no example of an %s", kind)
		}
	}
}

func examples(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		if strings.TrimSpace(string(doc)) != "" {
			out = append(out, doc)
		}
	}
	return out
}
