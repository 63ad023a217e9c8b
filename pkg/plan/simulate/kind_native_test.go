package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRollout_ByClientCountsOrdinalsOfTheNativeObject: the ordinals of a StatefulSet are those that Kubernetes gives its pods, whatever its
// source reserves and whether Kruise heeds a start.
func TestRollout_ByClientCountsOrdinalsOfTheNativeObject(t *testing.T) {
	const onDelete = "  ordinals: {start: 2}\n  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}\n"
	text := strings.NewReplacer("kind: ReplicaSet", "kind: StatefulSet", "  replicas: 4\n", "  replicas: 4\n  serviceName: web\n"+onDelete).Replace(replicaSet)
	source := `, labels: {kubectl-kruise.dev/source: statefulset.web}, annotations: {kubectl-kruise.dev/strategy: '` +
		`{"replicas":4,"reserveOrdinals":[3],"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"ReCreate"}}}'}}`
	for name, text := range map[string]string{"plain": text, "of an Advanced StatefulSet": strings.Replace(text, "namespace: shop}", "namespace: shop"+source, 1)} {
		t.Run(name, func(t *testing.T) {
			w := New(DefaultOptions())
			w.AddNode("n", nil)
			must(t, w.Apply(documents(t, text)...))
			if ok, err := w.Settle(time.Hour); !ok || err != nil {
				t.Fatal(ok, err)
			}
			desired, err := cluster.ReadWorkload(documents(t, strings.Replace(text, "web:1", "web:2", 1))[0])
			must(t, err)
			snap, err := w.Snapshot(desired.Ref)
			must(t, err)
			p, err := plan.Build(desired, snap, plan.Policy{Driver: plan.DriverClient})
			must(t, err)
			line, err := Rollout(w, p, RolloutOptions{})
			must(t, err)
			if line.Summary.Outcome != Completed || line.Summary.Restarts != 4 {
				t.Errorf("%+v", line.Summary)
			}
		})
	}
}
