package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestConsequenceOf_CountsUntilTheNextPause: a promotion updates what the steps up to the next
// pause update, and names images and revisions.
func TestConsequenceOf_CountsUntilTheNextPause(t *testing.T) {
	p := Plan{
		Limits: Limits{Replicas: 10},
		Change: Change{FromRevision: "web-a", ToRevision: "web-b", Fields: []rules.FieldChange{
			{Path: "spec.containers[0].image", Old: "app:1", New: "app:2", Effect: rules.EffectImage},
			{Path: "metadata.labels.x", Old: "1", New: "2"},
		}},
		Steps: []Step{
			{Name: "20%", Kind: StepUpdate, Updated: 2},
			{Name: "pause-20%", Kind: StepPause, Updated: 2},
			{Name: "50%", Kind: StepPartition, Updated: 5},
			{Name: "pause-50%", Kind: StepPause, Updated: 5},
			{Name: "100%", Kind: StepPartition, Updated: 10},
		},
	}
	images := []ImageChange{{"app:1", "app:2"}}
	for at, want := range map[int]Consequence{
		1: {Step: "pause-20%", At: 2, Pods: 3, Updated: 5, Next: 5},
		3: {Step: "pause-50%", At: 4, Pods: 5, Updated: 10, Next: 10},
		9: {Step: "100%", At: 5, Pods: 0, Updated: 10, Next: 10},
	} {
		want.Transition, want.Steps, want.Total, want.From, want.To, want.Images = TransitionPromote, 5, 10, "web-a", "web-b", images
		if diff := cmp.Diff(want, ConsequenceOf(TransitionPromote, p, Progress{Step: at})); diff != "" {
			t.Errorf("at step %d (-want +got):\n%s", at, diff)
		}
	}
	p.Steps = slices.Insert(p.Steps[:3:3], 3, Step{Name: "75%", Kind: StepPartition, Updated: 7}, Step{Name: "100%", Kind: StepPartition, Updated: 10})
	if c := ConsequenceOf(TransitionPromote, p, Progress{Step: 1}); c.Next != 5 || c.Updated != 10 || c.Pods != 8 {
		t.Errorf("without a pause ahead: %+v", c)
	}
	if c := ConsequenceOf(TransitionAbort, p, Progress{Step: 1}); c.Pods != 0 || c.Updated != 2 {
		t.Errorf("an abort changes pods: %+v", c)
	}
	if c := ConsequenceOf(TransitionRetry, Plan{}, Progress{}); c.Steps != 0 || c.Step != "" {
		t.Errorf("a plan without steps: %+v", c)
	}
}

// TestConsequenceOfPlan_CountsEachPodOnce: a pod that several steps touch changes once for people.
func TestConsequenceOfPlan_CountsEachPodOnce(t *testing.T) {
	p := Plan{Steps: []Step{
		{Pods: []PodStep{{Name: "a"}, {Name: "b"}}, Updated: 2},
		{Pods: []PodStep{{Name: "b"}, {Name: "c"}}, Updated: 3},
	}}
	if c := ConsequenceOfPlan(p, TransitionRollBack); c.Pods != 3 || c.Updated != 3 || c.Steps != 2 || c.Transition != TransitionRollBack {
		t.Errorf("%+v", c)
	}
}
