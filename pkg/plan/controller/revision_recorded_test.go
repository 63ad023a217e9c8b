package controller

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRevisionNamesAsRecorded holds the names against those of a cluster: of the
// stored templates, and of the templates of the workloads as we read them.
func TestRevisionNamesAsRecorded(t *testing.T) {
	stored, read := 0, 0
	for _, c := range conformance.List(t, "rollout") {
		steps, err := conformance.RolloutSteps(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.Kind == "SidecarSet" {
				continue
			}
			for _, r := range s.After.Revisions {
				w := cluster.Workload{Ref: cluster.Ref{Group: kruise.Group, Kind: s.Kind, Name: "web"}, Template: r.Template}
				if got := revisionName(&w, nil, 0); got != r.Name {
					t.Errorf("%s step %d: revision %s is named %s", s.Case, s.Number, r.Name, got)
				}
				stored++
			}
			if name, want := readRevisionName(t, s); name != want {
				t.Errorf("%s step %d: the workload's template is named %s, recorded %s", s.Case, s.Number, name, want)
			}
			read++
		}
	}
	if stored < 300 || read < 150 {
		t.Errorf("%d stored templates and %d workloads were compared", stored, read)
	}
}

func readRevisionName(t *testing.T, s conformance.RolloutStep) (got, want string) {
	t.Helper()
	w, err := cluster.ReadWorkload(tree.FromValue(s.After.Workload))
	if err != nil {
		t.Fatal(err)
	}
	status, _ := s.After.Workload["status"].(map[string]any)
	want, _ = status["updateRevision"].(string)
	if w.Kind == "DaemonSet" {
		want = w.Name + "-" + want
	}
	return revisionName(w, nil, 0), want
}
