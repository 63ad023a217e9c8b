package compare_test

import (
	"context"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// TestRun_EndsWhenStopped: nothing is compared once the answer is not wanted any more.
func TestRun_EndsWhenStopped(t *testing.T) {
	const web = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	opt := compare.Options{}
	if got := compare.Run(t.Context(), nil, golden.Parse(t, web), opt); len(got.Changes) != 1 {
		t.Errorf("%d changes", len(got.Changes))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if got := compare.Run(ctx, nil, golden.Parse(t, web), opt); len(got.Changes) > 0 {
		t.Errorf("still %d changes", len(got.Changes))
	}
}
