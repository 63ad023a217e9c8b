package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
)

// TestBuildMetadata_AsKustomizeWritesIt: the label that names the version of kustomize, and
// the annotations of origins and transformations, are those that the kustomize of the
// project's version writes. The program is built as releases are: the version comes from
// the modules that are linked, which tests have more of.
func TestBuildMetadata_AsKustomizeWritesIt(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kubectl-kruise")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", checkout.Path(), "-o", program, "./cmd/kubectl-kruise")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, metadata := range []string{"managedByLabel", "managedByLabel, originAnnotations, transformerAnnotations"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"kustomization.yaml": "buildMetadata: [" + metadata + "]\nresources: [web.yaml]\nnamePrefix: a-\nconfigMapGenerator: [{name: settings, literals: [a=b]}]\n",
			"web.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: b\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, said, err := kustomize.Run(t, dir, nil, "build", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		render := exec.CommandContext(t.Context(), program, "render", "-q", "-k", dir)
		got, err := render.Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-kustomize +ours):\n%s", metadata, diff)
		}
	}
}
