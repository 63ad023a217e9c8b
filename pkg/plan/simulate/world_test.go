package simulate

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1.0"}]}
`

// lab are the options under which the recordings' node agent worked.
func lab() Options {
	return Options{
		Gates: cluster.DefaultGates(), ReadinessGate: true, GuardUpdates: true,
		Agent:   Agent{Start: Exactly(time.Second), Stop: Exactly(500 * time.Millisecond), Reread: true},
		Latency: 10 * time.Millisecond,
	}
}

func TestDeploymentComesUpAndRolls(t *testing.T) {
	w := New(lab())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	w.AddNode("n2", nil)
	if err := w.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := w.Snapshot(ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Pods {
		t.Log(p.Name, p.Node, p.Phase, p.Conditions, p.Labels)
	}
	if err := w.Watch(ref); err != nil {
		t.Fatal(err)
	}
	err = w.MergePatch(ref, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:2.0"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, r := range w.Timeline().Records {
		t.Logf("%+v", r)
	}
	t.Logf("%+v", w.Timeline().Summary)
}
