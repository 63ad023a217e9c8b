package render

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzRead: whatever a function config holds, it is options or a fault; none of its
// values leads outside of what is rendered by a panic.
func FuzzRead(f *testing.F) {
	texts := []string{
		"apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nmetadata: {name: a}\nspec: {target: auto, expand: [SidecarSet], templatePaths: {a/B: spec.template}, with: [a.yaml]}\n",
		"apiVersion: kubectl-kruise.dev/v1alpha1\nkind: RenderConfig\nspec: {with: [{inline: x}], base: null, expand: {a: b}, target: [1], kubernetesVersion: 1e9}\n",
		"apiVersion: v1\nkind: ConfigMap\ndata: {target: kruise, expand: 'a,,b', templatePaths: 'a=b=c', kubernetesVersion: '1.99999999999', strict: maybe}\n",
		"apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {annotations: {kubectl-kruise.dev/target: x, kubectl-kruise.dev/: y}}\n",
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		n, err := load.Single("config", []byte(text))
		if err != nil || n == nil {
			return
		}
		c, err := ReadConfig(n)
		if c == nil {
			t.Fatal(err)
		}
	})
}
