package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestMidway: whoever looks in the middle of a rollout, at any moment, can plan the way
// back from there.
func TestMidway(t *testing.T) {
	for name, text := range map[string]string{
		"CloneSet":             cloneSet,
		"Advanced StatefulSet": strings.NewReplacer("kind: CloneSet", "kind: StatefulSet", "updateStrategy: {", "serviceName: web\n  updateStrategy: {").Replace(cloneSet),
		"StatefulSet":          strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web").Replace(replicaSet),
		"ReplicaSet":           replicaSet,
		"Deployment":           strings.Replace(replicaSet, "kind: ReplicaSet", "kind: Deployment", 1),
		"DaemonSet":            strings.NewReplacer("kind: ReplicaSet", "kind: DaemonSet", "  replicas: 4\n", "").Replace(replicaSet),
	} {
		t.Run(name, func(t *testing.T) {
			for at := 100 * time.Millisecond; at < 2*time.Minute; at += 700 * time.Millisecond {
				if turnBack(t, documents(t, text)[0], documents(t, strings.ReplaceAll(text, "web:1", "web:2"))[0], at) == Completed {
					return
				}
			}
			t.Error("the rollout never ends")
		})
	}
}

// turnBack rolls out for so long, and plans the way back from there. It returns how the
// rollout stands.
func turnBack(t *testing.T, doc, next *tree.Node, at time.Duration) Outcome {
	t.Helper()
	w := New(Usual())
	w.AddNode("n1", nil)
	w.AddNode("n2", nil)
	must(t, w.Apply(doc))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	desired, err := cluster.ReadWorkload(next)
	must(t, err)
	s, err := w.Snapshot(desired.Ref)
	must(t, err)
	old := s.Workload.Template
	policy := plan.Policy{Pull: plan.PullNever}
	if desired.Kind != "DaemonSet" {
		policy.Steps = []plan.PolicyStep{{To: plan.Pods(1)}, {To: plan.All}}
	}
	p, err := plan.Build(desired, s, policy)
	must(t, err)
	promote := time.Duration(0)
	line, err := Rollout(w, p, RolloutOptions{Promote: &promote, Limit: at})
	must(t, err)
	s, err = w.Snapshot(desired.Ref)
	must(t, err)
	back, err := plan.WithTemplate(s.Workload, old)
	must(t, err)
	undo, err := plan.Build(back, s, plan.Policy{Pull: plan.PullNever})
	must(t, err)
	if err := Check(undo, s, Usual()); err != nil {
		t.Errorf("after %s: %v\n%s", at, err, stepsOf(undo))
	}
	return line.Summary.Outcome
}

func stepsOf(p plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s %s %d %v\n", s.Kind, s.Title, s.Updated, s.After)
	}
	return b.String()
}
