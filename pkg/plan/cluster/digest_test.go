package cluster

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// asked is everything that a digest answers.
type asked struct {
	State, Revision, Record, Budget string
	Marked, Held, Grace             bool
	IsReady, Shut, Open             bool
	Since                           time.Time
	Ready, Gate, Other              Condition
	HasReady, HasGate, HasOther     bool
}

func ask(p *Pod) asked {
	a := asked{
		State: p.LifecycleState(), Revision: p.Revision(), Record: p.InPlaceRecord(), Budget: p.RelatedBudget(),
		Marked: p.Marked(), Held: p.HeldUnavailable(), Grace: p.GraceAnnounced(),
		IsReady: p.IsReady(), Shut: p.GateShut(), Open: p.GateOpen(), Since: p.ReadySince(),
	}
	a.Ready, a.HasReady = p.Condition(string(corev1.PodReady))
	a.Gate, a.HasGate = p.Condition(kruise.InPlaceUpdateReady)
	a.Other, a.HasOther = p.Condition("Other")
	return a
}

func pods() map[string]*Pod {
	return map[string]*Pod{
		"nothing": {},
		"empty":   {Labels: map[string]string{}, Annotations: map[string]string{}, Conditions: []Condition{}},
		"all": {
			Labels: map[string]string{
				RevisionLabel: "web-1", kruise.LifecycleStateLabel: "Normal", kruise.SpecifiedDeleteLabel: "",
				kruise.UnavailablePodLabelPrefix + "x": "",
			},
			Annotations: map[string]string{
				kruise.InPlaceUpdateGraceAnnotation: "{}", kruise.InPlaceUpdateStateAnnotation: "{}", kruise.RelatedBudgetOlderAnnotation: "old",
			},
			Conditions: []Condition{
				SetTo("Other", corev1.ConditionTrue, "a", ""), SetTo("Ready", corev1.ConditionFalse, "b", "c"),
				SetTo(kruise.InPlaceUpdateReady, corev1.ConditionTrue, "", ""),
			},
		},
		"another budget": {Annotations: map[string]string{kruise.RelatedBudgetAnnotation: "new", kruise.RelatedBudgetOlderAnnotation: "old"}},
	}
}

// TestDigest_AnswersTheSame: a prepared pod has the same answers as an unprepared one.
func TestDigest_AnswersTheSame(t *testing.T) {
	for name, p := range pods() {
		want := ask(p)
		p.Digest()
		if diff := cmp.Diff(want, ask(p)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		p.Digest()
		if diff := cmp.Diff(want, ask(p)); diff != "" {
			t.Errorf("%s, twice: %s", name, diff)
		}
	}
}

// TestDigest_HoldsForItsPodOnly: what is made of a prepared pod answers for itself.
func TestDigest_HoldsForItsPodOnly(t *testing.T) {
	for from, a := range pods() {
		for to, b := range pods() {
			a.Digest()
			next := *a
			next.Labels, next.Annotations, next.Conditions = b.Labels, b.Annotations, b.Conditions
			if diff := cmp.Diff(ask(b), ask(&next)); diff != "" {
				t.Errorf("%s made %s: %s", from, to, diff)
			}
			next.Digest()
			if diff := cmp.Diff(ask(b), ask(&next)); diff != "" {
				t.Errorf("%s made %s, prepared: %s", from, to, diff)
			}
		}
	}
	p := pods()["all"]
	p.Digest()
	revision := "web-2"
	q := p.With(PodChange{
		Labels: map[string]*string{RevisionLabel: &revision, kruise.SpecifiedDeleteLabel: nil}, Annotations: map[string]*string{kruise.InPlaceUpdateGraceAnnotation: nil},
		Conditions: []Condition{SetTo("Ready", corev1.ConditionTrue, "", "")},
	}, time.Unix(100, 0))
	got := ask(q)
	if got.Revision != "web-2" || got.Marked || got.Grace || got.Ready.Status != corev1.ConditionTrue || !got.Held {
		t.Errorf("the changed pod says %+v", got)
	}
	if before := ask(p); before.Revision != "web-1" || !before.Marked {
		t.Errorf("the pod it came from says %+v", before)
	}
}

// TestDigest_IsNoDifference: pods that differ only in being prepared are equal.
func TestDigest_IsNoDifference(t *testing.T) {
	a, b := pods()["all"], pods()["all"]
	a.Digest()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	b.Labels = maps.Clone(b.Labels)
	b.Labels[RevisionLabel] = "web-2"
	if cmp.Equal(a, b) {
		t.Error("a difference is not seen")
	}
}
