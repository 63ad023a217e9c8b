package input

import (
	"bytes"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
)

func TestManifests(t *testing.T) {
	const head = "apiVersion: kubectl-kruise.dev/v1alpha1\nmetadata: {name: x}\nkind: "
	for name, c := range map[string]struct{ text, want string }{
		"manifest":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", ""},
		"others":     {"apiVersion: example.com/v1\nkind: RenderConfig\nmetadata: {name: x}\n", ""},
		"options":    {head + "RenderConfig\nspec: {strict: true}\n", "RenderConfig x is left out: it is for kubectl kruise, not for a cluster; its options count for Argo CD, kustomize and kpt, not here\n"},
		"no options": {head + "RenderConfig\nspec: {}\n", "RenderConfig x is left out: it is for kubectl kruise, not for a cluster\n"},
		"facts":      {head + "ClusterFacts\nspec: {kubernetesVersion: '1.35'}\n", "ClusterFacts x is left out: it is for kubectl kruise, not for a cluster; what it tells counts where its file is given with --with\n"},
		"plan":       {head + "RolloutPlan\nspec: {a: b}\n", "RolloutPlan x is left out: it is for kubectl kruise, not for a cluster\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			list := golden.Parse(t, c.text)
			at := list[0].Origin.String()
			left := Manifests(&said, list)
			want := c.want
			if want != "" {
				want = "note: " + at + ": " + want
			}
			if said.String() != want || (len(left) == 0) != (c.want != "") {
				t.Errorf("%d left, said %q, want %q", len(left), said.String(), want)
			}
		})
	}
}
