package controller

import (
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

func TestStatefulSetGracePeriod(t *testing.T) {
	grace := all(inPlace, []string{"partition: 0", "inPlaceUpdateStrategy: {gracePeriodSeconds: 3}"})
	l := newStatefulSet(t, grace...)
	if got, want := l.to(all(grace, image2)...), "set web-2 InPlaceUpdateReady=False, inPlace web-2, state web-2 Updating"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p := l.pass(); p.Again.Seconds() != 3 {
		t.Errorf("looks again after %v", p.Again)
	}
	if got := l.rest(2); got != "" {
		t.Errorf("during the grace period %s", got)
	}
	if got := l.rest(1); got != "image web-2 2" {
		t.Errorf("at its end %s", got)
	}
	const next = "set web-2 InPlaceUpdateReady=True, state web-2 Normal, set web-1 InPlaceUpdateReady=False, inPlace web-1, state web-1 Updating"
	if got := l.rest(1); got != next {
		t.Errorf("then %s", got)
	}
}

// TestStatefulSetHookedUpdate: an inPlaceUpdate hook holds the pod before its
// update, and has to be put back after it.
func TestStatefulSetHookedUpdate(t *testing.T) {
	hook := "  lifecycle: {inPlaceUpdate: {labelsHandler: {hold: \"yes\"}}}\n  template:"
	edits := all(inPlace, []string{"  template:", hook, "labels: {app: web}}\n", "labels: {app: web, hold: \"yes\"}}\n", "replicas: 3", "replicas: 1"})
	l := newStatefulSet(t, edits...)
	no, yes := "no", "yes"
	if got := l.to(all(edits, image2)...) + l.rest(2); got != "state web-0 PreparingUpdate" {
		t.Error(got)
	}
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"hold": &no}})
	l.settle()
	if got, want := l.did(), "set web-0 InPlaceUpdateReady=False, inPlace web-0, image web-0 2, state web-0 Updating"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := l.rest(2), "set web-0 InPlaceUpdateReady=True, state web-0 Updated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"hold": &yes}})
	if got := l.rest(1); got != "state web-0 Normal" {
		t.Error(got)
	}
}

// TestStatefulSetHeldDeletion: the preDelete hook holds pods before a scale-down,
// a recreation and a specified delete alike.
func TestStatefulSetHeldDeletion(t *testing.T) {
	yes, no := "true", "no"
	edits := []string{"  template:", "  lifecycle: {preDelete: {labelsHandler: {hold: \"yes\"}}}\n  template:", "labels: {app: web}}\n", "labels: {app: web, hold: \"yes\"}}\n"}
	for name, begin := range map[string]func(*lab){
		"recreation": func(l *lab) { l.to(all(edits, image2)...) },
		"scale down": func(l *lab) { l.to(all(edits, []string{"replicas: 3", "replicas: 2"})...) },
		"marked": func(l *lab) {
			l.edit("web-2", cluster.PodChange{Labels: map[string]*string{kruise.SpecifiedDeleteLabel: &yes}})
			l.settle()
		},
	} {
		l := newStatefulSet(t, edits...)
		begin(l)
		l.rest(2)
		if got := rules.StateOf(l.pod("web-2")); got != rules.StatePreparingDelete {
			t.Errorf("%s: %s", name, got)
		}
		l.edit("web-2", cluster.PodChange{Labels: map[string]*string{"hold": &no}})
		l.settle()
		if got := l.did(); got != "delete web-2" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestStatefulSetPreNormal(t *testing.T) {
	edits := []string{"  template:", "  lifecycle: {preNormal: {labelsHandler: {checked: \"yes\"}}}\n  template:", "replicas: 3", "replicas: 1"}
	l := newLab(t, edited(statefulSetYAML, edits...))
	l.settle()
	l.rest(2)
	if got := rules.StateOf(l.pod("web-0")); got != rules.StatePreparingNormal {
		t.Error(got)
	}
	yes := "yes"
	l.edit("web-0", cluster.PodChange{Labels: map[string]*string{"checked": &yes}})
	if got := l.rest(1); got != "state web-0 Normal" {
		t.Error(got)
	}
}
