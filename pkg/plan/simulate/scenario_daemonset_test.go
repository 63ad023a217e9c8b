package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func edited(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// daemons is an Advanced DaemonSet on all nodes.
func daemons(rolling string) string {
	return `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {` + rolling + `}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: "web:1.0"}]
`
}

// nodes lists where pods of an image are, by name.
func (s *scenario) nodes(image string) string {
	on := map[string]bool{}
	for _, p := range s.store.all.now {
		if p.Containers[0].Image == image && !p.Deleting {
			on[p.Node] = true
		}
	}
	var out []string
	for _, n := range []string{"n0", "n1", "n2", "n3", "n4"} {
		if on[n] {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

func (s *scenario) daemonStatus() kruise.DaemonSetStatus {
	return s.store.objects[s.ref].workload.Object.(*kruise.DaemonSet).Status
}

// TestScenario_DaemonPartition is case 203.
func TestScenario_DaemonPartition(t *testing.T) {
	s := play(t, daemons("partition: 3"))
	s.step(newImage)
	if got := s.nodes("web:2.0"); got != "n3 n4" {
		t.Errorf("partition 3: %s", got)
	}
	for _, step := range []struct{ partition, want string }{
		{"50%", "n2 n3 n4"}, {"0", "n0 n1 n2 n3 n4"},
	} {
		s.step("{spec: {updateStrategy: {rollingUpdate: {partition: " + step.partition + "}}}}")
		if got := s.nodes("web:2.0"); got != step.want {
			t.Errorf("partition %s: %s, want %s", step.partition, got, step.want)
		}
		if most := s.Timeline().Summary.MostDown; most > 1 {
			t.Errorf("partition %s: %d down at once", step.partition, most)
		}
	}
	if st := s.daemonStatus(); st.UpdatedNumberScheduled != 5 || st.NumberAvailable != 5 || st.ObservedGeneration != 4 {
		t.Errorf("status %+v", st)
	}
}

// TestScenario_DaemonPaused is case 209: what was begun is finished, a pod that is
// deleted by hand comes back new, and everything else waits.
func TestScenario_DaemonPaused(t *testing.T) {
	s := play(t, daemons(""))
	s.watch()
	s.patch(s.ref, newImage)
	if err := s.Run(s.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	s.patch(s.ref, "{spec: {updateStrategy: {rollingUpdate: {paused: true}}}}")
	s.settle()
	if got := strings.Fields(s.nodes("web:2.0")); len(got) != 1 {
		t.Errorf("while paused: %v", got)
	}
	for _, e := range s.store.podsByUID {
		if e.Containers[0].Image == "web:1.0" {
			if err := s.pods.deleteByHand(plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	s.settle()
	if got := strings.Fields(s.nodes("web:2.0")); len(got) != 2 {
		t.Errorf("after a deletion: %v", got)
	}
	s.step("{spec: {updateStrategy: {rollingUpdate: {paused: false}}}}")
	if got := s.nodes("web:2.0"); got != "n0 n1 n2 n3 n4" {
		t.Errorf("resumed: %s", got)
	}
}

// TestScenario_DaemonOnDelete is case 210.
func TestScenario_DaemonOnDelete(t *testing.T) {
	s := play(t, edited(daemons(""), "{rollingUpdate: {}}", "{type: OnDelete}"))
	s.expect("new image", nil, s.step(newImage))
	for _, e := range s.store.podsByUID {
		if e.Node == "n2" {
			if err := s.pods.deleteByHand(plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	s.settle()
	if got := s.nodes("web:2.0"); got != "n2" {
		t.Errorf("new on %s", got)
	}
}

// TestScenario_DaemonNodes is case 211: nodes that join while a partition holds
// get the newest revision.
func TestScenario_DaemonNodes(t *testing.T) {
	s := play(t, edited(daemons("partition: 2"), "containers:", "nodeSelector: {pool: web}\n      containers:"))
	join := func(nodes ...string) {
		t.Helper()
		yes := "web"
		for _, n := range nodes {
			if err := s.scheduler.labelNode(n, map[string]*string{"pool": &yes}); err != nil {
				t.Fatal(err)
			}
		}
		s.settle()
	}
	join("n0", "n1", "n2")
	if got := s.nodes("web:1.0"); got != "n0 n1 n2" {
		t.Errorf("three nodes join: %s", got)
	}
	s.step(newImage)
	if got := s.nodes("web:2.0"); got != "n2" {
		t.Errorf("partition 2 of 3: %s", got)
	}
	join("n3", "n4")
	if got := s.nodes("web:2.0"); got != "n2 n3 n4" {
		t.Errorf("two more join: %s", got)
	}
	s.step("{spec: {updateStrategy: {rollingUpdate: {partition: 0}}}}")
	if got := s.nodes("web:2.0"); got != "n0 n1 n2 n3 n4" {
		t.Errorf("partition 0: %s", got)
	}
	if err := s.scheduler.labelNode("n1", map[string]*string{"pool": nil}); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if got := s.nodes("web:2.0"); got != "n0 n2 n3 n4" || s.daemonStatus().DesiredNumberScheduled != 4 {
		t.Errorf("a node leaves: %s, %+v", got, s.daemonStatus())
	}
}

// TestScenario_DaemonHook is case 213: each pod is held until the hook's label is removed, one pod
// at a time.
func TestScenario_DaemonHook(t *testing.T) {
	s := play(t, edited(daemons(""), "  template:\n    metadata: {labels: {app: web}}",
		"  lifecycle: {preDelete: {labelsHandler: {hold: 'yes'}}}\n  template:\n    metadata: {labels: {app: web, hold: 'yes'}}"))
	s.watch()
	s.patch(s.ref, newImage)
	for range 5 {
		s.settle()
		held := 0
		for _, e := range s.store.podsByUID {
			if e.Labels[kruise.LifecycleStateLabel] == "PreparingDelete" && !e.Deleting {
				held++
				s.pods.change(e, cluster.PodChange{Labels: map[string]*string{"hold": nil}}, "")
			}
		}
		if held != 1 {
			t.Fatalf("%d pods are held", held)
		}
	}
	s.settle()
	if got := s.nodes("web:2.0"); got != "n0 n1 n2 n3 n4" || s.Timeline().Summary.MostDown != 1 {
		t.Errorf("new on %s, %d down at once", got, s.Timeline().Summary.MostDown)
	}
}

// TestScenario_DaemonInPlacePartition is case 208 in short.
func TestScenario_DaemonInPlacePartition(t *testing.T) {
	s := play(t, daemons("rollingUpdateType: InPlaceIfPossible, maxUnavailable: 2, partition: 2"))
	waves := s.step(newImage)
	if len(waves) != 2 || strings.Count(waves[0], "inPlaceUpdate") != 2 || s.nodes("web:2.0") != "n2 n3 n4" {
		t.Errorf("%q: %s", waves, s.nodes("web:2.0"))
	}
}

// labelNode merges labels of a node; nil removes one.
func (s *scheduler) labelNode(name string, labels map[string]*string) error {
	n := s.nodes[name]
	if n == nil {
		return plan.ErrNotFound
	}
	s.addNode(name, cluster.Merged(n.Labels, labels))
	return nil
}
