package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestWanted_CountsAfterEachChange: whatever happens to pods and their workloads, how many pods a
// SidecarSet wants is what reading all of them gives.
func TestWanted_CountsAfterEachChange(t *testing.T) {
	answers := map[int]bool{}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 17))
		w := worldOf(t, sidecarSet("", "")+webSet, false)
		must(t, w.MergePatch(webRef, map[string]any{"spec": map[string]any{"replicas": int64(5)}}))
		set := w.store.sets[0]
		for step := range 60 {
			disturbInjections(t, rng, w)
			want := wantedAtOnce(w.store, set)
			if got := w.store.wanted(set); got != want {
				t.Fatalf("seed %d, step %d: %d are wanted, want %d", seed, step, got, want)
			}
			answers[want] = true
		}
	}
	if len(answers) < 4 {
		t.Errorf("the only answers were %v", answers)
	}
}

// disturbInjections has time pass, a pod get or lose its sidecars, come without a workload or go, or the
// workload go.
func disturbInjections(t *testing.T, rng *rand.Rand, w *World) {
	t.Helper()
	must(t, w.Run(w.Now().Add(quiet/4)))
	list := ""
	switch rng.IntN(8) {
	case 0:
		list = "mesh"
	case 1:
		list = "other,mesh"
	case 2:
		p := &cluster.Pod{Namespace: "shop", Name: "bare", UID: w.store.newUID(), Annotations: map[string]string{kruise.SidecarSetInjectedListAnnotation: "mesh"}}
		if _, err := w.store.findPod(plan.PodRef{Namespace: p.Namespace, Name: p.Name}); err != nil {
			w.pods.insert(p)
		}
		return
	case 3:
		if w.store.objects[webRef] != nil && rng.IntN(4) == 0 {
			delete(w.store.objects, webRef)
		}
		return
	}
	if len(w.store.all.pods) == 0 {
		return
	}
	e := w.store.all.pods[rng.IntN(len(w.store.all.pods))]
	if rng.IntN(6) == 0 {
		w.pods.remove(e)
		return
	}
	must(t, w.PatchPod(plan.PodRef{Namespace: e.Namespace, Name: e.Name}, cluster.PodChange{Annotations: map[string]*string{kruise.SidecarSetInjectedListAnnotation: &list}}))
}

// wantedAtOnce reads all pods of all workloads.
func wantedAtOnce(s *store, set *object) int {
	sum := 0
	for _, o := range s.sortedObjects() {
		if o.workload != nil && o != set && slices.ContainsFunc(o.pods.now, func(p *cluster.Pod) bool { return injected(p, set.ref.Name) }) {
			sum += s.wanted(o)
		}
	}
	if sum == 0 {
		for _, p := range s.all.now {
			if injected(p, set.ref.Name) {
				sum++
			}
		}
	}
	return sum
}
