package rules

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// DaemonSetStepPending says what a step of an Advanced DaemonSet waits for.
// With a selector in force, matching is how many nodes it matches; without one
// pass a negative number (docs/kruise/workloads.md#advanced-daemonset, Done).
func DaemonSetStepPending(d *kruise.DaemonSet, matching int) Pending {
	s := d.Status
	desired := int(s.DesiredNumberScheduled)
	want := desired
	if r := d.Spec.UpdateStrategy.RollingUpdate; r != nil {
		want = max(desired-DaemonSetPartition(r.Partition, desired), 0)
	}
	if matching >= 0 {
		want = min(want, matching)
	}
	var p Pending
	p.seen(s.ObservedGeneration, d.Generation)
	p.atLeast("updatedNumberScheduled", s.UpdatedNumberScheduled, int32(want))
	p.need(s.NumberUnavailable == 0, "numberUnavailable is %d", s.NumberUnavailable)
	return p
}

// DaemonSetPending says what a whole rollout waits for.
func DaemonSetPending(d *kruise.DaemonSet) Pending {
	s := d.Status
	var p Pending
	p.seen(s.ObservedGeneration, d.Generation)
	p.count("updatedNumberScheduled", s.UpdatedNumberScheduled, s.DesiredNumberScheduled)
	p.count("numberAvailable", s.NumberAvailable, s.DesiredNumberScheduled)
	return p
}
