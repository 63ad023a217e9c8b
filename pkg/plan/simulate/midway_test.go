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
// back from there, also where the new image cannot be pulled; only a StatefulSet that is
// ordered repairs no pod (recorded in 125), which is said.
func TestMidway(t *testing.T) {
	broken := Usual()
	broken.Agent.Unpullable = func(image string) bool { return image == "web:2" }
	for name, text := range map[string]string{
		"CloneSet":                      cloneSet,
		"Advanced StatefulSet":          asts(""),
		"Advanced StatefulSet in place": asts("updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"),
		"Advanced StatefulSet parallel": asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}"),
		"under a partition":             asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2}}"),
		"StatefulSet":                   strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web").Replace(replicaSet),
		"ReplicaSet":                    replicaSet,
		"Deployment":                    strings.Replace(replicaSet, "kind: ReplicaSet", "kind: Deployment", 1),
		"DaemonSet":                     strings.NewReplacer("kind: ReplicaSet", "kind: DaemonSet", "  replicas: 4\n", "").Replace(replicaSet),
	} {
		t.Run(name, func(t *testing.T) {
			doc, next := documents(t, text)[0], documents(t, strings.ReplaceAll(text, "web:1", "web:2"))[0]
			var last Outcome
			for at := time.Millisecond; last != Completed && at < time.Minute; at += at/3 + 100*time.Millisecond {
				var err error
				if last, err = turnBack(t, Usual(), doc, next, at); err != nil {
					t.Errorf("after %s: %v", at, err)
				}
				_, err = turnBack(t, broken, doc, next, at)
				if err != nil && (!ordered(text) || !strings.Contains(err.Error(), "is 3 of 4")) {
					t.Errorf("after %s, broken: %v", at, err)
				}
			}
			if last != Completed {
				t.Errorf("the rollout is %s", last)
			}
		})
	}
}

// turnBack rolls out for so long, on nodes that are as they are, and plans the way back
// from there. It returns how the rollout stands, and why there is no way back.
func turnBack(t *testing.T, o Options, doc, next *tree.Node, at time.Duration) (Outcome, error) {
	t.Helper()
	w := New(o)
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
		return line.Summary.Outcome, fmt.Errorf("%w\n%s", err, stepsOf(undo))
	}
	return line.Summary.Outcome, nil
}

func ordered(text string) bool {
	return strings.Contains(text, "kind: StatefulSet") && !strings.Contains(text, "Parallel")
}

func asts(more string) string {
	return strings.NewReplacer("apps/v1", "apps.kruise.io/v1beta1", "kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web\n  "+more).Replace(replicaSet)
}

func stepsOf(p plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s %s %d %v\n", s.Kind, s.Title, s.Updated, s.After)
	}
	return b.String()
}
