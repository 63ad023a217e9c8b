package compare_test

import (
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// TestRun_EndsWhenStopped: nothing is compared once the answer is not wanted any more.
func TestRun_EndsWhenStopped(t *testing.T) {
	const web = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	opt := compare.Options{}
	if got := compare.Run(nil, golden.Parse(t, web), opt); len(got.Changes) != 1 {
		t.Errorf("%d changes", len(got.Changes))
	}
	opt.Stop = func() error { return errors.New("stop") }
	if got := compare.Run(nil, golden.Parse(t, web), opt); len(got.Changes) > 0 {
		t.Errorf("still %d changes", len(got.Changes))
	}
}
