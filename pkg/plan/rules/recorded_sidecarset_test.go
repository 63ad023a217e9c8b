package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// recordedSidecarSet is the set as the step left it, with the pods of a state.
func recordedSidecarSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) (*SidecarSet, kruise.SidecarSet) {
	t.Helper()
	var after kruise.SidecarSet
	recordedWorkload(t, s.After, &after)
	set := &SidecarSet{
		Name: after.Name, Spec: &after.Spec, ResourceVersion: after.ResourceVersion, Revision: after.Status.LatestRevision,
		Hash: after.Annotations[kruise.SidecarSetHashAnnotation], HashWithoutImage: after.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
		Namespaces: map[string]map[string]string{"default": {kruise.NamespaceNameLabel: after.Name}},
	}
	for _, p := range pods.Pods {
		set.Pods = append(set.Pods, recordedPod(p))
	}
	return set, after
}

func predictSidecarSet(set *SidecarSet) prediction {
	update := set.ChooseUpdate()
	switch {
	case len(update.Flip) > 0:
		return prediction{op: "applyImages", pods: uids(update.Flip), why: update.Why}
	case len(update.Pods) > 0:
		return prediction{op: "sidecarUpdate", pods: uids(update.Pods), exact: true, why: update.Why}
	}
	return prediction{why: update.Why}
}

// TestRecordedSidecarSetFirst holds the rules against the first batch of every
// recorded patch of a SidecarSet.
func TestRecordedSidecarSetFirst(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		}
		set, _ := recordedSidecarSet(t, s, s.Before)
		if err := predictSidecarSet(set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, first batch")
}

// TestRecordedSidecarSetSettled: at rest there is nothing to do, and the numbers
// of the status are ours.
func TestRecordedSidecarSetSettled(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		if !s.Trace.Settled || s.Case[0] == '4' {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		set, after := recordedSidecarSet(t, s, s.After)
		got, want := set.SidecarSetCounts(), after.Status
		want = kruise.SidecarSetStatus{MatchedPods: want.MatchedPods, UpdatedPods: want.UpdatedPods, ReadyPods: want.ReadyPods, UpdatedReadyPods: want.UpdatedReadyPods}
		diff := cmp.Diff(want, got)
		if s.Case == "313-sidecar-notupdate" && s.Number == 2 {
			// Under NotUpdate the controller did not look again when the new pod
			// became ready: its status says 3 of 4 ready pods to the end.
			diff = ""
		}
		if p := predictSidecarSet(set); p.op != "" || diff != "" {
			sum.failed++
			t.Errorf("%s step %d: %s %v (%s)\n%s", s.Case, s.Number, p.op, p.pods, p.why, diff)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, at rest")
}
