package rules

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// recordedDaemonSet knows the nodes that have a pod, which are all there are in
// the cases that are asked about.
func recordedDaemonSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *DaemonSet {
	t.Helper()
	var before, after kruise.DaemonSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	d := &DaemonSet{
		Spec: &after.Spec, Update: after.Status.UpdateRevision, Now: pods.TakenAt,
		Scheduled: int(before.Status.DesiredNumberScheduled),
	}
	on := map[string][]*cluster.Pod{}
	for _, p := range ownedPods(s, pods) {
		on[p.Node] = append(on[p.Node], p)
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		d.Nodes = append(d.Nodes, DaemonNode{Node: &cluster.Node{Name: name, Labels: pods.NodeLabels[name]}, ShouldRun: true, Pods: on[name]})
	}
	return d
}

// TestRecordedDaemonSetFirst: what is touched first is what the rules allow,
// and as much of it; which of the candidates come is random.
func TestRecordedDaemonSetFirst(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "DaemonSet") {
		d := recordedDaemonSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case d.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		case d.Spec.ScaleStrategy != nil:
			sum.skip("nodes without pods are not recorded")
			continue
		}
		if err := compareDaemonSet(s, d); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "DaemonSet, first batch")
}

func compareDaemonSet(s conformance.RolloutStep, d *DaemonSet) error {
	update := d.ChooseUpdate()
	var ops []conformance.RolloutOp
	if len(s.Trace.Batches) > 0 {
		ops = s.Trace.Batches[0].Ops
	}
	if update.Room+len(update.Broken) == 0 {
		if len(ops) > 0 {
			return fmt.Errorf("predicted nothing (%s), recorded %s", update.Why, opsText(ops))
		}
		return nil
	}
	candidates, broken := 0, 0
	for _, op := range ops {
		at := func(p *cluster.Pod) bool {
			if update.Surge {
				return op.Op == "create" && op.Node == p.Node
			}
			return (op.Op == "delete" || op.Op == "inPlaceUpdate") && op.UID == p.UID
		}
		candidates += one2(slices.ContainsFunc(update.Candidates, at))
		broken += one2(slices.ContainsFunc(update.Broken, at))
	}
	if candidates != update.Room || broken != len(update.Broken) {
		return fmt.Errorf("predicted %d of %q and %q (%s), recorded %s", update.Room, names(update.Candidates), names(update.Broken), update.Why, opsText(ops))
	}
	return nil
}

func one2(b bool) int { return int(one(b)) }

// TestRecordedDaemonSetSettled: where the recording came to rest, the rules have
// nothing to do.
func TestRecordedDaemonSetSettled(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "DaemonSet") {
		if !s.Trace.Settled || s.Case[0] == '4' {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		d := recordedDaemonSet(t, s, s.After)
		update, manage := d.ChooseUpdate(), d.Manage()
		if update.Room+len(update.Broken)+len(update.Finished)+len(manage.Create)+len(manage.Remove) > 0 {
			sum.failed++
			t.Errorf("%s step %d: %+v %+v", s.Case, s.Number, update, manage)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "DaemonSet, at rest")
}
