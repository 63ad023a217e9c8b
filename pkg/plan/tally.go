package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Tally counts the pods of a rollout that are not being deleted, see [Snapshot.Members].
type Tally struct {
	// Desired is how many there shall be, Total how many there are.
	Desired int `json:"desired"`
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	// Updated carry the new template, UpdatedReady are ready besides.
	Updated      int `json:"updated"`
	UpdatedReady int `json:"updatedReady"`
}

// Count counts the pods of a rollout.
func Count(p Plan, s Snapshot) Tally {
	t := Tally{Desired: p.Limits.Replicas}
	carries := Carries(p, s)
	for _, pod := range s.Members() {
		if !rules.Active(pod) {
			continue
		}
		t.Total++
		ready, updated := rules.Ready(pod), carries(pod)
		t.Ready += one(ready)
		t.Updated += one(updated)
		t.UpdatedReady += one(ready && updated)
	}
	return t
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Observed reports whether the controller has seen the present spec: until then its
// status, and so which pods are updated, is that of another.
func Observed(s Snapshot) bool {
	w := s.Object()
	return w != nil && w.Object != nil && rules.Observed(w.Object)
}

// Carries tells which pods carry the new template of a plan. No pod does while the
// template has not been written, unless the plan keeps it.
func Carries(p Plan, s Snapshot) func(*cluster.Pod) bool {
	r := &run{plan: &p, snap: &s}
	if w := r.object(); w == nil || w.Object == nil {
		return func(*cluster.Pod) bool { return false }
	}
	return r.carries()
}
