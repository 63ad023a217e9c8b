package rules

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestDefectDaemonSetDone: the older plugin had no status of Advanced DaemonSets. Ours
// is not done while its controller has not seen the change, while nodes have old pods,
// or while updated ones are not available.
func TestDefectDaemonSetDone(t *testing.T) {
	status := func(change func(*kruise.DaemonSet)) Pending {
		d := &kruise.DaemonSet{}
		d.Generation = 2
		d.Status = kruise.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3}
		change(d)
		return DaemonSetPending(d)
	}
	if p := status(func(*kruise.DaemonSet) {}); !p.Done() {
		t.Errorf("all are updated: %v", p)
	}
	for name, change := range map[string]func(*kruise.DaemonSet){
		"the change is not seen": func(d *kruise.DaemonSet) { d.Generation = 3 },
		"a node has an old pod":  func(d *kruise.DaemonSet) { d.Status.UpdatedNumberScheduled = 2 },
		"one is not available":   func(d *kruise.DaemonSet) { d.Status.NumberAvailable = 2 },
	} {
		if p := status(change); p.Done() {
			t.Errorf("%s, and it is done", name)
		}
	}
}
