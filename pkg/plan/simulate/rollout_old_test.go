package simulate

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestPodsAreOldUntilTheTemplateIsWritten: what a run begins with is old to whoever
// looks at it, although it is the cluster's newest revision at that time.
func TestPodsAreOldUntilTheTemplateIsWritten(t *testing.T) {
	w := New(Usual())
	w.AddNode("n1", map[string]string{"topology.kubernetes.io/zone": "a"})
	if err := w.Apply(documents(t, deployment)...); err != nil {
		t.Fatal(err)
	}
	settle(t, w)
	s, err := w.Snapshot(cluster.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	desired, err := cluster.ReadWorkload(documents(t, strings.Replace(deployment, "web:1.0", "web:2.0", 1))[0])
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Build(desired, s, plan.Policy{Pull: plan.PullFirst})
	if err != nil {
		t.Fatal(err)
	}
	line, err := Rollout(w, p, RolloutOptions{})
	if err != nil || line.Summary.Outcome != Completed {
		t.Fatal(line.Summary, err)
	}
	first, last := line.Samples[0], line.Samples[len(line.Samples)-1]
	if first.New != 0 || first.Old != len(s.Pods) || last.Old != 0 || last.New != len(s.Pods) {
		t.Errorf("from %+v to %+v", first, last)
	}
}
