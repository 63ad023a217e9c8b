package cluster_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// heads are all kinds of workloads with pods of their own.
var heads = []string{
	"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet", "apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet",
	"apiVersion: apps.kruise.io/v1beta1\nkind: DaemonSet", "apiVersion: apps/v1\nkind: Deployment", "apiVersion: apps/v1\nkind: ReplicaSet",
	"apiVersion: apps/v1\nkind: StatefulSet", "apiVersion: apps/v1\nkind: DaemonSet",
}

// TestWhole_UnpacksWhatWasPacked: a bare workload becomes what it would have been read as, and stays bare
// itself.
func TestWhole_UnpacksWhatWasPacked(t *testing.T) {
	for _, head := range append(heads, "apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet") {
		text := head + body
		if strings.HasSuffix(head, "SidecarSet") {
			text = head + "\nmetadata: {name: logs}\nspec: {selector: {matchLabels: {app: web}}, containers: [{name: logs, image: \"logs:1\"}]}"
		}
		want, err := cluster.ReadWorkload(node(t, text))
		if err != nil {
			t.Fatal(err)
		}
		bare, err := cluster.ReadBare(node(t, text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := bare.Whole()
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" || len(got.Template) == 0 || bare.Template != nil {
			t.Errorf("%s: %s", head, diff)
		}
		if packed := strings.Contains(string(bare.Packed), "containers"); packed == strings.HasSuffix(head, "SidecarSet") || got.Packed != nil {
			t.Errorf("%s: containers are packed: %v", head, packed)
		}
		if again, err := got.Whole(); err != nil || again != got {
			t.Errorf("%s: a whole workload was recreated (%v)", head, err)
		}
	}
}

// TestLooksAtNodes: nodes matter to DaemonSets, and where a template spreads its pods;
// a SidecarSet has no pods of its own.
func TestLooksAtNodes(t *testing.T) {
	spread := strings.Replace(body, "spec: {containers:", "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}], containers:", 1)
	for _, head := range heads {
		for _, c := range []struct {
			text string
			want bool
		}{{head + body, strings.HasSuffix(head, "DaemonSet")}, {head + spread, true}} {
			w, err := cluster.ReadBare(node(t, c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := w.LooksAtNodes(); got != c.want {
				t.Errorf("%s: %v, want %v", c.text, got, c.want)
			}
		}
	}
	if (&cluster.Workload{Ref: cluster.Ref{Kind: "SidecarSet"}}).LooksAtNodes() {
		t.Error("a SidecarSet looks at nodes")
	}
}
