package rules

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// cloneSet makes a CloneSet in the middle of a rollout from o to n, from the
// YAML of its spec and the words of [pods].
func cloneSet(t *testing.T, spec, words string) *CloneSet {
	t.Helper()
	c := &CloneSet{Spec: &kruise.CloneSetSpec{}, Current: "web-o", Update: "web-n", Now: now}
	decode(t, spec, c.Spec)
	if c.Spec.UpdateStrategy.RollingUpdate == nil && c.Spec.UpdateStrategy.Type == "" {
		c.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{}
	}
	c.Pods = pods(t, words)
	return c
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := tree.Decode(n.YNode(), into)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("%v, unknown fields %v", err, unknown)
	}
}

// TestActiveSideOnly: terminating and finished pods count nowhere.
func TestActiveSideOnly(t *testing.T) {
	c := cloneSet(t, "replicas: 3", "o o^ n n^")
	c.Pods = append(c.Pods, &cluster.Pod{Name: "done", Phase: "Succeeded"})
	n := c.Count(false)
	if n.Old.Active != 1 || n.New.Active != 1 {
		t.Errorf("counts %+v", n)
	}
}

func TestCount(t *testing.T) {
	c := cloneSet(t, "replicas: 9\nscaleStrategy: {podsToDelete: [p2], excludePreparingDelete: true}", "2*o o! o!- o= o=- n n! n~ n-")
	c.Gates.CloneSetPartitionRollback = true
	want := CloneSetCounts{
		Old:      CloneSetSide{Active: 6, PreparingDelete: 2, Marked: 2, Unavailable: 1, Ready: 4, Available: 2},
		New:      CloneSetSide{Active: 4, Marked: 1, Unavailable: 2, Ready: 3, Available: 2},
		Rollback: true, ExcludePreparingDelete: true,
	}
	if got := c.Count(false); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.Current = "n"
	if !c.Count(false).Settled {
		t.Error("equal hashes are not settled")
	}
	c.Current = ""
	if !c.Count(false).Settled {
		t.Error("no current revision is not settled")
	}
}

// TestCountForScaling: the gate PreparingUpdateAsUpdate moves pods to the new
// side for scaling, and only for scaling.
func TestCountForScaling(t *testing.T) {
	c := cloneSet(t, "replicas: 4", "o 2*o~ n")
	for _, step := range []struct {
		gate, scaling bool
		old, updated  int
	}{{false, false, 3, 1}, {false, true, 3, 1}, {true, false, 3, 1}, {true, true, 1, 3}} {
		c.Gates.PreparingUpdateAsUpdate = step.gate
		n := c.Count(step.scaling)
		if n.Old.Active != step.old || n.New.Active != step.updated {
			t.Errorf("%+v: %+v", step, n)
		}
	}
}
