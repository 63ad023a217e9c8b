package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// TestRollout_ReachesThePodsThatThePlanNames over random CloneSets with surge, scatter or both: in
// each step the pods are those of the plan, and each changes as planned.
func TestRollout_ReachesThePodsThatThePlanNames(t *testing.T) {
	const worlds = 200
	surplus, differ := 0, 0
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 34))
		text, w, policy := randomCloneSet(t, r)
		p := planFor(t, w, policy, "web:2")
		predicted, err := Predict(p, snapshot(t, w), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		p = p.WithTouches(predicted.Touches)
		line, err := Rollout(w, p, RolloutOptions{})
		if err != nil || line.Summary.Outcome != Completed {
			t.Fatalf("seed %d: %v %v\n%s", seed, line.Summary.Outcome, err, text)
		}
		for i, s := range p.Steps {
			var want []string
			for _, pod := range s.Pods {
				want = append(want, pod.UID+" "+string(pod.Mode))
				if pod.Mode == rules.ModeRecreate && p.Change.Mode != rules.ModeRecreate {
					surplus++
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, reachedIn(line, i)); diff != "" {
				differ++
				t.Logf("seed %d, step %s (plan -, simulator +): %s\n%s", seed, s.Name, diff, text)
			}
		}
	}
	if differ > worlds/100 {
		t.Errorf("%d steps differ", differ)
	}
	if surplus == 0 {
		t.Error("no surge pod took the place of another: the test tests nothing")
	}
}

// reachedIn are the old pods that changed or were deleted in a step.
func reachedIn(line Timeline, step int) []string {
	born := map[string]bool{}
	for _, r := range line.Records {
		if r.Op == OpCreate {
			born[r.UID] = true
		}
	}
	var out []string
	m := line.Steps[step]
	for _, r := range line.Records {
		if r.At < m.Begin || r.At >= m.End || born[r.UID] {
			continue
		}
		switch r.Op {
		case OpInPlace:
			out = append(out, r.UID+" "+string(rules.ModeInPlace))
		case OpDelete:
			out = append(out, r.UID+" "+string(rules.ModeRecreate))
		}
	}
	slices.Sort(out)
	return out
}

// randomCloneSet comes up pod by pod, so that no two of them are alike.
func randomCloneSet(t *testing.T, r *rand.Rand) (string, *World, plan.Policy) {
	t.Helper()
	replicas, surge := 3+r.IntN(12), r.IntN(4)
	scatter := "[]"
	if r.IntN(2) == 0 {
		scatter = "[{key: ring, value: a}]"
	}
	update := fmt.Sprintf("{type: %s, maxUnavailable: %d, maxSurge: %d, scatterStrategy: %s}",
		[]string{"InPlaceIfPossible", "ReCreate"}[r.IntN(2)], max(r.IntN(4), 1-surge), surge, scatter)
	text := strings.ReplaceAll(cloneSet, "replicas: 4", "replicas: 1")
	text = strings.ReplaceAll(text, "{type: InPlaceIfPossible, maxUnavailable: 1}", update)
	o := DefaultOptions()
	o.Agent.Pull, o.Agent.Stop = Exactly(0), Exactly(0)
	w := New(o)
	for i := range 2 + r.IntN(4) {
		w.AddNode(fmt.Sprint("n", i), nil)
	}
	must(t, w.Apply(documents(t, text)...))
	for n := range replicas {
		must(t, w.MergePatch(shopWeb, map[string]any{"spec": map[string]any{"replicas": n + 1}}))
		must(t, w.Run(w.Now().Add(7*time.Second)))
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, p := range snapshot(t, w).Pods {
		if r.IntN(2) == 0 {
			ring := "a"
			must(t, w.PatchPod(plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, cluster.PodChange{Labels: map[string]*string{"ring": &ring}}))
		}
	}
	var ladder []string
	for _, n := range []int{1 + r.IntN(2), replicas/2 + 1} {
		if n < replicas && r.IntN(3) > 0 {
			ladder = append(ladder, fmt.Sprint(n))
		}
	}
	return fmt.Sprintf("%d replicas, %v\n%s", replicas, ladder, update), w, steps(t, append(slices.Compact(ladder), "100%")...)
}
