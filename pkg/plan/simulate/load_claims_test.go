package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestStoredClaimsHash: a cluster hashes claim templates in its own way. Under the gate
// that looks at them, pods are recreated only when the templates change.
func TestStoredClaimsHash(t *testing.T) {
	const claims = "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	for _, c := range []struct {
		name, size string
		recreated  int
	}{
		{"they stay", "1Gi", 0},
		{"they change", "2Gi", 4},
	} {
		o := Usual()
		o.Gates.RecreatePodWhenChangeVCT = true
		w := New(o)
		w.AddNode("n1", nil)
		must(t, w.Apply(documents(t, cloneSet+claims)...))
		if ok, err := w.Settle(time.Hour); !ok || err != nil {
			t.Fatal(ok, err)
		}
		s := snapshot(t, w)
		s.Gates = o.Gates
		s.Revisions[0].ClaimsHash = "3636919212"
		next, err := cluster.ReadWorkload(documents(t, strings.NewReplacer("web:1", "web:2", "1Gi", c.size).Replace(cloneSet+claims))[0])
		must(t, err)
		p, err := plan.Build(next, s, plan.Policy{})
		must(t, err)
		line, err := Predict(p, s, o)
		if err != nil || line.Summary.Recreated != c.recreated {
			t.Errorf("%s: %d recreated, %v", c.name, line.Summary.Recreated, err)
		}
	}
}
