package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestAsked: requests ask for their pods, and for no others.
func TestAsked(t *testing.T) {
	a := &asker{namespace: "shop", stream: golden.Parse(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ContainerRecreateRequest
metadata: {name: restart}
spec: {podName: web-0, containers: [{name: app}]}
---
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: trace, namespace: other}
spec: {selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: NotIn, values: [db]}]}}
---
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: faulty}
spec: {selector: {matchExpressions: [{key: tier, operator: Near}]}}
`)}
	a.asked()
	type question struct{ namespace, fields, selector string }
	var got []question
	for _, w := range a.list {
		got = append(got, question{w.namespace, w.fields, w.selector})
	}
	want := []question{{"shop", "metadata.name=web-0", ""}, {"other", "", "app=web,tier notin (db)"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(question{})); diff != "" {
		t.Error(diff)
	}
}

// TestRunningPods: what is kept decides how a container is restarted; what an
// environment holds is nobody's business.
func TestRunningPods(t *testing.T) {
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web-0", "uid": "u", "annotations": map[string]any{"secret": "x"}},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": "app:1", "env": []any{map[string]any{"name": "PASSWORD", "value": "x"}}}},
			"ephemeralContainers": []any{map[string]any{"name": "tracer", "env": []any{
				map[string]any{"name": "TOKEN", "value": "x"}, map[string]any{"name": "KRUISE_EJOB_ID", "value": "ephemeraljob.trace"},
			}}},
		},
		"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "app", "restartCount": int64(2), "lastState": map[string]any{"a": "b"}}}},
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web-0", "uid": "u"},
		"spec": map[string]any{
			"containers":          []any{map[string]any{"name": "app", "image": "app:1"}},
			"ephemeralContainers": []any{map[string]any{"name": "tracer", "env": []any{map[string]any{"name": "KRUISE_EJOB_ID", "value": "ephemeraljob.trace"}}}},
		},
		"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "app", "restartCount": int64(2)}}},
	}
	if diff := cmp.Diff(want, runningPods.prune(pod)); diff != "" {
		t.Error(diff)
	}
}

// TestMomentary: what holds for the moment only is no fact for a file.
func TestMomentary(t *testing.T) {
	stream := []*resource.Resource{kruiseObject("ContainerRecreateRequest", "shop", map[string]any{"podName": "web-0"})}
	lists := map[string][]map[string]any{"/api/v1/namespaces/shop/pods": {named("Pod", "shop", "web-0")}}
	for _, now := range []bool{true, false} {
		res, err := read(t, &fake{lists: lists}, Scope{Stream: stream, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if read, said := len(res.Context) == 2, len(res.Skipped) == 1; read != now || said == now {
			t.Errorf("now %v: %v, skipped %q", now, ids(res), res.Skipped)
		}
	}
}
