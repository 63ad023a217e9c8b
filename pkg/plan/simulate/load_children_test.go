package simulate

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestDeploymentOfSnapshot: what a snapshot shows of a Deployment is enough to go
// on with: its pods stay, and an update keeps to its limits.
func TestDeploymentOfSnapshot(t *testing.T) {
	before := New(lab())
	before.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := before.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	ref := cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if ok, err := before.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s, err := before.Snapshot(ref)
	if err != nil {
		t.Fatal(err)
	}
	w, err := FromSnapshot(s, lab())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Watch(ref); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	if line := w.Timeline(); len(line.Records) != 0 || line.Summary.MostDown != 0 || line.Summary.MostPods != len(s.Pods) {
		t.Errorf("a settled Deployment does not stay: %+v", line)
	}
	err = w.MergePatch(ref, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:2.0"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	after, err := w.Snapshot(ref)
	if err != nil {
		t.Fatal(err)
	}
	if sum := w.Timeline().Summary; len(after.Pods) != len(s.Pods) || len(after.Revisions) != 2 || sum.Recreated != len(s.Pods) || sum.MostDown >= len(s.Pods) {
		t.Errorf("%d pods, %d revisions, %+v", len(after.Pods), len(after.Revisions), sum)
	}
}

// TestUIDsDoNotCollide: a world that continues another's snapshot gives no uid a
// second time.
func TestUIDsDoNotCollide(t *testing.T) {
	w := New(lab())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := w.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	s, err := w.Snapshot(cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	next, err := FromSnapshot(s, lab())
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for _, p := range s.Pods {
		taken[p.UID] = true
	}
	for range 20 {
		if id := next.id(); taken[id] {
			t.Errorf("%s is a pod's already", id)
		}
	}
}

func settle(t *testing.T, w *World) {
	t.Helper()
	if ok, err := w.Settle(time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
}
