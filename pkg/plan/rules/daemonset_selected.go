package rules

import "k8s.io/apimachinery/pkg/labels"

// Selected is how many nodes updateStrategy.rollingUpdate.selector matches, as
// [DaemonSetStepPending] asks for it: -1 without a selector.
func (d *DaemonSet) Selected() int {
	if r := d.Spec.UpdateStrategy.RollingUpdate; r == nil || r.Selector == nil {
		return -1
	}
	chosen, n := d.selector(), 0
	for _, node := range d.Nodes {
		if node.ShouldRun && chosen.Matches(labels.Set(node.Labels)) {
			n++
		}
	}
	return n
}
