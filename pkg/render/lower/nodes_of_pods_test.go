package lower_test

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestPodSelector_WithoutPodsIsAnErrorOnlyWithoutClusterFacts: Kruise completes a job at once that selects no pod;
// only where nothing is known of the cluster is that an error.
func TestPodSelector_WithoutPodsIsAnErrorOnlyWithoutClusterFacts(t *testing.T) {
	in := golden.Parse(t, `apiVersion: apps.kruise.io/v1beta1
kind: ImagePullJob
metadata: {name: pull, namespace: shop}
spec: {image: "c:1", podSelector: {matchLabels: {app: web}}}
`)
	for context, refused := range map[string]bool{"": true, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n": false} {
		c := newContext(in, stage.Native)
		c.Facts = resource.NewFacts(in, golden.Parse(t, context), "shop")
		out, err := lower.Run(c, in)
		if (err != nil) != refused || len(out) > 0 {
			t.Errorf("beside %q: %v, %v", context, out, err)
		}
	}
}
