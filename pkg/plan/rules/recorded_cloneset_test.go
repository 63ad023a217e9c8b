package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// recordedCloneSet is the CloneSet of a step: the pods of one state, the spec as
// the step left it.
func recordedCloneSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *CloneSet {
	t.Helper()
	var before, after kruise.CloneSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	set := &CloneSet{
		Spec: &after.Spec, Current: before.Status.CurrentRevision, Update: after.Status.UpdateRevision,
		Pods: ownedPods(s, pods), Nodes: map[string]*cluster.Node{}, Now: pods.TakenAt,
	}
	set.Spec.ScaleStrategy.PodsToDelete = before.Spec.ScaleStrategy.PodsToDelete
	for _, r := range []conformance.RolloutState{s.Before, s.After} {
		for name, l := range r.NodeLabels {
			set.Nodes[name] = &cluster.Node{Name: name, Labels: l}
		}
	}
	if named, ok := patchedPodsToDelete(s.Trace.Step); ok {
		set.Spec.ScaleStrategy.PodsToDelete = named
	}
	return set
}

// patchedPodsToDelete: the controller takes names out of the spec by itself, so
// what was asked for stands only in the patch.
func patchedPodsToDelete(step map[string]any) ([]string, bool) {
	at := step["patch"]
	for _, key := range []string{"spec", "scaleStrategy", "podsToDelete"} {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	list, ok := at.([]any)
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out, ok
}

// predictCloneSet says what the controller does first.
func predictCloneSet(s conformance.RolloutStep, set *CloneSet) prediction {
	scale := set.Scale()
	switch {
	case scale.CreateOld+scale.CreateNew > 0:
		p := prediction{op: "create", why: scale.Why}
		p.creates = append(slices.Repeat([]string{cluster.Hash(set.Current)}, scale.CreateOld), slices.Repeat([]string{cluster.Hash(set.Update)}, scale.CreateNew)...)
		return p
	case len(scale.Delete) > 0:
		return prediction{op: "delete", pods: uids(scale.Delete), classes: classesOf([][]*cluster.Pod{scale.Any}), why: scale.Why}
	}
	choice := set.ChooseUpdate()
	p := prediction{why: choice.Why, pods: uids(choice.Pods), classes: classesOf(set.Ties(set.UpdateCandidates(choice.Back)))}
	if len(choice.Pods) == 0 {
		return p
	}
	p.op, p.exact = modeOp(s, set, choice.Pods[0])
	if p.op == "" {
		p.why = "not possible in place"
	}
	return p
}

// classesOf names every pod of a tie by the first of it.
func classesOf(ties [][]*cluster.Pod) map[string]string {
	out := map[string]string{}
	for _, group := range ties {
		for _, p := range group {
			out[p.UID] = "like " + group[0].UID
		}
	}
	return out
}

// modeOp is the op by which a pod is updated, and whether it waits for
// readiness: a change of metadata alone is done at the next reconcile.
func modeOp(s conformance.RolloutStep, set *CloneSet, p *cluster.Pod) (op string, exact bool) {
	switch mode, _ := eligible(s, p, set.Update, UpdatePolicy(set.rolling().PodUpdatePolicy)).ForPod(p, true, false); mode {
	case ModeInPlace:
		return "inPlaceUpdate", true
	case ModeMetadataOnly:
		return "inPlaceUpdate", false
	case ModeRecreate:
		return "markDelete", true
	}
	return "", true
}

// possible reports whether the policy lets the pod be updated at all.
func possible(s conformance.RolloutStep, set *CloneSet, p *cluster.Pod) bool {
	op, _ := modeOp(s, set, p)
	return op != ""
}

func inGrace(p *cluster.Pod) bool {
	_, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]
	return grace
}

// TestRecordedCloneSetFirst holds what the rules say against the first batch of
// every recorded patch of a CloneSet.
func TestRecordedCloneSetFirst(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "CloneSet") {
		set := recordedCloneSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case strings.HasPrefix(s.Case, "4"):
			sum.skip("PodUnavailableBudget")
			continue
		case set.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case terminating(set.Pods):
			sum.skip("starts while pods terminate")
			continue
		case slices.ContainsFunc(set.Pods, inGrace):
			sum.skip("starts within a grace period")
			continue
		}
		if err := predictCloneSet(s, set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "CloneSet, first batch")
}

// TestRecordedCloneSetSettled: where the recording came to rest, the rules have
// nothing to do.
func TestRecordedCloneSetSettled(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "CloneSet") {
		set := recordedCloneSet(t, s, s.After)
		set.Current = set.Update
		var after kruise.CloneSet
		recordedWorkload(t, s.After, &after)
		set.Current, set.Spec.ScaleStrategy.PodsToDelete = after.Status.CurrentRevision, after.Spec.ScaleStrategy.PodsToDelete
		if !s.Trace.Settled || strings.HasPrefix(s.Case, "4") {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		scale, choice := set.Scale(), set.ChooseUpdate()
		if scale.Acts() || slices.ContainsFunc(choice.Pods, func(p *cluster.Pod) bool { return possible(s, set, p) }) {
			sum.failed++
			t.Errorf("%s step %d: %+v; updates %s (%s)", s.Case, s.Number, scale, names(choice.Pods), choice.Why)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "CloneSet, at rest")
}
