package simulate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// guarded is a CloneSet of five, ready one after another, with a budget.
func guarded(t *testing.T, rolling, budget string) *scenario {
	t.Helper()
	s := play(t, edited(webSet, "podUpdatePolicy: InPlaceIfPossible", rolling)+`
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web-pub, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, `+budget+`}
`)
	s.grow(webRef, 5)
	return s
}

const newImage = `{spec: {template: {spec: {containers: [{name: main, image: "web:2.0"}]}}}}`

// TestScenarioBudgetInPlace is case 401: a permit is held for ten seconds, though
// the pod is ready again after one.
func TestScenarioBudgetInPlace(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 3", "maxUnavailable: 1")
	s.expect("new image", []string{"inPlaceUpdate p5", "inPlaceUpdate p4", "inPlaceUpdate p3", "inPlaceUpdate p2", "inPlaceUpdate p1"}, s.step(newImage))
	var at []time.Duration
	for _, r := range s.Timeline().Records {
		if r.Op == OpInPlace {
			at = append(at, r.At)
		}
	}
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < 9*time.Second || d > 12*time.Second {
			t.Errorf("act %d came after %v", i+1, d)
		}
	}
	if most := s.Timeline().Summary.MostDown; most != 1 {
		t.Errorf("%d pods were down at once", most)
	}
}

// TestScenarioBudgetOfTwo takes two per ten seconds (404).
func TestScenarioBudgetOfTwo(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2", "minAvailable: 60%")
	s.expect("new image", []string{"inPlaceUpdate p4, inPlaceUpdate p5", "inPlaceUpdate p2, inPlaceUpdate p3", "inPlaceUpdate p1"}, s.step(newImage))
}

// TestScenarioBudgetRecreate has no such wait: the permit ends with the pod (403).
func TestScenarioBudgetRecreate(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: ReCreate, maxUnavailable: 3", "maxUnavailable: 1")
	s.expect("new image", []string{
		"create p6, delete p5, markDelete p5", "create p7, delete p4, markDelete p4", "create p8, delete p3, markDelete p3",
		"create p9, delete p2, markDelete p2", "create p10, delete p1, markDelete p1",
	}, s.step(newImage))
	if all := s.Timeline().Records; all[len(all)-1].At > 10*time.Second {
		t.Errorf("it took %v", all[len(all)-1].At)
	}
}

// TestScenarioBudgetAllowsNothing: not even a label changes (413), and the reason
// is told.
func TestScenarioBudgetAllowsNothing(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible", "minAvailable: 100%")
	if err := s.Watch(s.ref); err != nil {
		t.Fatal(err)
	}
	s.patch(s.ref, "{spec: {template: {metadata: {labels: {tier: gold}}}}}")
	if err := s.Run(s.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	s.expect("a label", nil, s.waves())
}

// TestScenarioBudgetMarks is case 412: marked pods go one at a time, though the
// CloneSet would let two go.
func TestScenarioBudgetMarks(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2", "maxUnavailable: 1")
	s.watch()
	for _, name := range []string{"p1", "p2", "p3"} {
		s.label(name, "apps.kruise.io/specified-delete", "true")
	}
	s.settle()
	got := s.waves()
	for i, wave := range got {
		if strings.Count(wave, "delete ") != 1 || !strings.Contains(wave, fmt.Sprintf("create p%d", 6+i)) {
			t.Errorf("wave %q", wave)
		}
	}
	if most := s.Timeline().Summary.MostDown; most != 1 || len(got) != 3 {
		t.Errorf("%d down at once: %q", most, got)
	}
}

// TestScenarioBudgetByHand is case 402: the second deletion and the second
// eviction are refused.
func TestScenarioBudgetByHand(t *testing.T) {
	s := guarded(t, "podUpdatePolicy: InPlaceIfPossible", "maxUnavailable: 1")
	pod := func(name string) plan.PodRef {
		for _, e := range s.pods {
			if s.names[e.Name] == name {
				return plan.PodRef{Namespace: e.Namespace, Name: e.Name, UID: e.UID}
			}
		}
		t.Fatalf("no pod %s", name)
		return plan.PodRef{}
	}
	if err := s.DeletePod(pod("p1")); err != nil {
		t.Error(err)
	}
	if err := s.DeletePod(pod("p2")); !errors.Is(err, plan.ErrRefused) {
		t.Errorf("the second deletion: %v", err)
	}
	s.settle()
	if err := s.EvictPod(pod("p2")); err != nil {
		t.Error(err)
	}
	if err := s.EvictPod(pod("p3")); !errors.Is(err, plan.ErrRefused) {
		t.Errorf("the second eviction: %v", err)
	}
	s.settle()
	if len(s.images()) != 5 {
		t.Errorf("pods %v", s.images())
	}
}

// TestScenarioBudgetRefusesDaemonSet is case 411: the DaemonSet may take three,
// the budget lets one go at a time.
func TestScenarioBudgetRefusesDaemonSet(t *testing.T) {
	s := play(t, daemons("maxUnavailable: 3")+`
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web-pub, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, minAvailable: 4}
`)
	waves := s.step(newImage)
	sum := s.Timeline().Summary
	if sum.MostDown != 1 || len(s.images()) != 5 {
		t.Errorf("%d down at once: %q", sum.MostDown, waves)
	}
	for name, image := range s.images() {
		if image != "web:2.0" {
			t.Errorf("%s runs %s", name, image)
		}
	}
}
