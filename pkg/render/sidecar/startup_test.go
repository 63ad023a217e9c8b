package sidecar_test

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, true)
			out, err := sidecar.Start(c, in)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, dir, c, out)
		})
	}
}

// TestStartup_IsIdempotent: what was arranged once is in order, and stays.
func TestStartup_IsIdempotent(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/expected.yaml") {
		in := golden.Read(t, dir, "expected.yaml")
		if _, err := sidecar.Start(newContext(in, true), in); err != nil {
			t.Fatal(err)
		}
		for _, r := range in {
			if r.Changed() {
				t.Errorf("%s: %s was changed again", dir, r.ID())
			}
		}
	}
}

// TestStartup_WithKruiseIsUnchanged: with Kruise in the cluster, its own webhook arranges.
func TestStartup_WithKruiseIsUnchanged(t *testing.T) {
	in := golden.Read(t, "testdata/priorities", "input.yaml")
	c := newContext(in, false)
	out, err := sidecar.Start(c, in)
	if err != nil || len(c.Findings.Findings()) != 0 {
		t.Fatal(c.Findings.Findings(), err)
	}
	for _, r := range out {
		if r.Changed() {
			t.Errorf("%s was changed", r.ID())
		}
	}
}

// TestStartup_RefusesABadPriority: Kruise refuses such a pod.
func TestStartup_RefusesABadPriority(t *testing.T) {
	in := golden.Parse(t, `
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
    - {name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]}
    - {name: b}
`)
	if _, err := sidecar.Start(newContext(in, true), in); err == nil {
		t.Error("a priority that is not a number was accepted")
	}
}

func newContext(in []*resource.Resource, expand bool) *stage.Context {
	return stage.New(resource.NewFacts(in, nil, "shop"), stage.Options{Expand: func(string) bool { return expand }})
}
