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
	must(t, w.Apply(documents(t, deployment)...))
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := w.Snapshot(ref)
	must(t, err)
	for _, p := range s.Pods {
		if !isReady(p) || p.Node == "" || p.Owner.Kind != "ReplicaSet" {
			t.Errorf("pod %+v", p)
		}
	}
	if len(s.Pods) != 4 || len(s.Revisions) != 1 {
		t.Fatalf("%d pods, %d revisions", len(s.Pods), len(s.Revisions))
	}
	must(t, w.Watch(ref))
	must(t, w.MergePatch(ref, templateImage("web:2.0")))
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	line := w.Timeline()
	if sum := line.Summary; sum.MostDown != 1 || sum.MostPods != 5 || sum.Recreated != 4 || sum.Restarts != 0 {
		t.Errorf("summary %+v", sum)
	}
	last := line.Samples[len(line.Samples)-1]
	if last.New != 4 || last.Total() != 4 {
		t.Errorf("it ends with %+v", last)
	}
}
