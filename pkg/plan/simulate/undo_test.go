package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestUndoStepsWait: pods below the partition carry the template already when an
// ordered set goes back; a step waits for those above it all the same.
func TestUndoStepsWait(t *testing.T) {
	for name, text := range map[string]string{
		"Kruise":     asts("podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 2}}"),
		"Kubernetes": strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4", "  replicas: 4\n  serviceName: web\n  updateStrategy: {rollingUpdate: {partition: 2}}").Replace(replicaSet),
	} {
		t.Run(name, func(t *testing.T) {
			w := New(Usual())
			w.AddNode("n1", nil)
			for _, image := range []string{"web:1", "web:2"} {
				must(t, w.Apply(documents(t, strings.ReplaceAll(text, "web:1", image))...))
				if ok, err := w.Settle(time.Hour); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			back, err := cluster.ReadWorkload(documents(t, text)[0])
			must(t, err)
			s, err := w.Snapshot(back.Ref)
			must(t, err)
			p, err := plan.Build(back, s, plan.Policy{Steps: []plan.PolicyStep{{To: plan.Pods(3)}, {To: plan.All}}, Pull: plan.PullNever})
			must(t, err)
			line, err := Predict(p, s, Usual())
			must(t, err)
			if len(line.Steps) != 2 || line.Steps[0].End < 4*time.Second || line.Steps[1].End < 8*time.Second {
				t.Errorf("steps end too early: %+v", line.Steps)
			}
		})
	}
}
