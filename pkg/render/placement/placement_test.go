package placement_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden renders testdata/CASE/input.yaml with context.yaml as what is in the
// cluster; older- cases are for the oldest API server.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in := golden.Read(t, dir, "input.yaml")
			c := newContext(in, golden.Read(t, dir, "context.yaml"))
			if strings.HasPrefix(filepath.Base(dir), "older-") {
				c.Kubernetes = stage.OldestKubernetes
			}
			out, err := placement.Run(c, in)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, dir, c, out)
		})
	}
}

// TestRun_IsIdempotent: what a first render placed, a second one leaves alone.
func TestRun_IsIdempotent(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/expected.yaml") {
		in := golden.Read(t, dir, "expected.yaml")
		out, err := placement.Run(newContext(in, golden.Read(t, dir, "context.yaml")), in)
		if err != nil {
			t.Fatal(err)
		}
		if before, after := golden.Text(t, in), golden.Text(t, out); before != after {
			t.Errorf("%s: placed again:\n%s", dir, after)
		}
	}
}

// TestRun_KeepsStatesForKruise: with Kruise in the cluster, its own webhook places.
func TestRun_KeepsStatesForKruise(t *testing.T) {
	in := golden.Read(t, "testdata/per-pod", "input.yaml")
	c := newContext(in, nil)
	c.Expand = func(string) bool { return false }
	out, err := placement.Run(c, in)
	if err != nil || len(out) != len(in) || len(c.Findings.Findings()) != 0 {
		t.Errorf("%d objects, %v, %v", len(out), c.Findings.Findings(), err)
	}
}

// TestRun_RefusesForgedStates: what no controller can have recorded does not get into policies.
func TestRun_RefusesForgedStates(t *testing.T) {
	for name, labels := range map[string]string{
		"value": `{db-0: {nodeTopologyLabels: {zone: "a\nb=c"}}}`,
		"key":   `{db-0: {nodeTopologyLabels: {'zone"] + [': a}}}`,
		"pod":   `{'db 0': {nodeTopologyLabels: {zone: a}}}`,
		"shape": `{db-0: 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := golden.Parse(t, strings.Replace(`
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: db, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  requiredPersistentTopology: {keys: [zone]}
status: {podStates: STATES}
`, "STATES", labels, 1))
			if _, err := placement.Run(newContext(in, nil), in); err == nil {
				t.Error("no error")
			}
		})
	}
}

func newContext(in, context []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, context, "shop"), stage.Options{Expand: stage.ExpandAll})
}

// TestRun_FollowsTheTarget: the state goes where its target went.
func TestRun_FollowsTheTarget(t *testing.T) {
	in := golden.Parse(t, `
apiVersion: apps.kruise.io/v1beta1
kind: StatefulSet
metadata: {name: db, namespace: shop}
---
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: db, namespace: shop}
spec:
  targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: StatefulSet, name: db}
  requiredPersistentTopology: {keys: [zone]}
status: {podStates: {db-0: {nodeTopologyLabels: {zone: a}}}}
`)
	const made = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec: {replicas: 1, template: {spec: {containers: []}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db-b, namespace: shop}
spec: {replicas: 1, template: {spec: {containers: []}}}
`
	for name, c := range map[string]struct {
		became int
		rule   string
		placed bool
	}{
		"one":     {became: 1, rule: "persistentpodstate/template", placed: true},
		"several": {became: 2, rule: "persistentpodstate/split"},
		"gone":    {rule: "persistentpodstate/split"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := newContext(in, nil)
			parts := golden.Parse(t, made)[:c.became]
			ctx.Lineage.Became(in[0].ID(), parts...)
			out, err := placement.Run(ctx, append(parts, in[1]))
			if err != nil {
				t.Fatal(err)
			}
			if got := golden.Findings(ctx.Findings.Findings()); !strings.Contains(got, c.rule) {
				t.Errorf("no %s in\n%s", c.rule, got)
			}
			if text := golden.Text(t, out); strings.Contains(text, "zone: a") != c.placed || strings.Contains(text, "PersistentPodState") {
				t.Errorf("placed: want %v in\n%s", c.placed, text)
			}
		})
	}
}
