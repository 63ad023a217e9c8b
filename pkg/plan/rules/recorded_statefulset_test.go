package rules

import (
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func recordedStatefulSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *StatefulSet {
	t.Helper()
	var before, after kruise.StatefulSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	return &StatefulSet{
		Spec: &after.Spec, Current: before.Status.CurrentRevision, Update: after.Status.UpdateRevision,
		Pods: ownedPods(s, pods), Now: pods.TakenAt,
		Busy: func(p *cluster.Pod) bool { return !InPlacePending(p, NodeReport{Resources: true}).Done() },
	}
}

// predictStatefulSet says what the controller does first.
func predictStatefulSet(s conformance.RolloutStep, set *StatefulSet) prediction {
	scale := set.Scale()
	switch {
	case len(scale.Create) > 0:
		p := prediction{op: "create", why: scale.Why}
		for _, made := range scale.Create {
			p.creates = append(p.creates, cluster.Hash(map[bool]string{true: set.Update, false: set.Current}[made.Update]))
		}
		return p
	case len(scale.Remove) > 0:
		return prediction{op: "delete", pods: uids(scale.Remove), why: scale.Why}
	case scale.Stop:
		return prediction{why: scale.Why}
	}
	update := set.ChooseUpdate()
	if len(update.Delete) > 0 {
		return prediction{op: "delete", pods: uids(update.Delete), why: update.Why}
	}
	if len(update.Pods) == 0 {
		return prediction{why: update.Why}
	}
	policy := UpdatePolicy("")
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		policy = UpdatePolicy(r.PodUpdatePolicy)
	}
	p := prediction{pods: uids(update.Pods), why: update.Why, op: "delete", exact: true}
	switch eligible(s, update.Pods[0], set.Update, policy).Mode {
	case ModeInPlace:
		p.op = "inPlaceUpdate"
	case ModeMetadataOnly:
		p.op, p.exact = "inPlaceUpdate", false
	}
	return p
}

// TestRecordedStatefulSetFirst holds the rules against the first batch of every
// recorded patch of an Advanced StatefulSet.
func TestRecordedStatefulSetFirst(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "StatefulSet") {
		set := recordedStatefulSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case set.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		case terminating(set.Pods) || slices.ContainsFunc(set.Pods, inGrace):
			sum.skip("starts while pods terminate or wait")
			continue
		}
		if err := predictStatefulSet(s, set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "StatefulSet, first batch")
}

// TestRecordedStatefulSetSettled: where the recording came to rest, the rules
// have nothing to do.
func TestRecordedStatefulSetSettled(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "StatefulSet") {
		set := recordedStatefulSet(t, s, s.After)
		if !s.Trace.Settled {
			sum.skip("not at rest")
			continue
		}
		scale := set.Scale()
		var update StatefulSetUpdate
		if !scale.Stop {
			update = set.ChooseUpdate()
		}
		if len(scale.Create)+len(scale.Remove)+len(update.Delete)+len(update.Pods) > 0 {
			sum.failed++
			t.Errorf("%s step %d: %+v; deletes %q, updates %q (%s)", s.Case, s.Number, scale, names(update.Delete), names(update.Pods), update.Why)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "StatefulSet, at rest")
}
