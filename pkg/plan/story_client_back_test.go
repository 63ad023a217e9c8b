package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// TestClientTakesBack: under a partition, a template that is taken back reaches the
// highest ordinals of a StatefulSet, however many others never left it.
func TestClientTakesBack(t *testing.T) {
	text := strings.Replace(carriers["StatefulSet"], "podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", 1)
	w, ref := world(t, simulate.Usual(), text)
	policy := plan.Policy{Steps: must(plan.ParseSteps("3")), Pull: plan.PullNever}
	for _, next := range []string{strings.Replace(text, `"web:1"`, `"web:1", env: [{name: A, value: b}]`, 1), text} {
		d, story := drive(t, w, ref, built(t, w, ref, next, policy), nil)
		if d.Verb != plan.Done {
			t.Fatal(strings.Join(story, "\n"))
		}
		if err := w.Record(t.Context(), ref, observe(t, w, ref).Version, plan.Progress{}); err != nil {
			t.Fatal(err)
		}
	}
	revisions := map[string]int{}
	for _, p := range observe(t, w, ref).Pods {
		revisions[p.Labels["controller-revision-hash"]]++
	}
	if len(revisions) != 1 {
		t.Errorf("pods by revision: %v", revisions)
	}
}

// TestClientInitImage: an init container's image cannot change in a running pod, so
// the pod is recreated.
func TestClientInitImage(t *testing.T) {
	for kind, text := range carriers {
		t.Run(kind, func(t *testing.T) {
			of := func(tag int) string {
				return strings.Replace(text, "spec: {containers", fmt.Sprintf(`spec: {initContainers: [{name: prepare, image: "init:%d"}], containers`, tag), 1)
			}
			if of(1) == text {
				t.Fatalf("no template in %s", text)
			}
			w, ref := world(t, simulate.Usual(), of(1))
			before := map[string]bool{}
			for _, p := range observe(t, w, ref).Pods {
				before[p.UID] = true
			}
			d, story := drive(t, w, ref, built(t, w, ref, of(2), plan.Policy{Steps: must(plan.ParseSteps("100%")), Pull: plan.PullNever}), nil)
			if d.Verb != plan.Done {
				t.Fatal(strings.Join(story, "\n"))
			}
			for _, p := range observe(t, w, ref).Pods {
				if before[p.UID] {
					t.Errorf("%s was not made anew", p.Name)
				}
			}
		})
	}
}
