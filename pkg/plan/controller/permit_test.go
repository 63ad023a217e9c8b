package controller

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// withPermit returns a copy of the map that has one more entry.
func withPermit(m map[string]metav1.Time, pod string, given metav1.Time) map[string]metav1.Time {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]metav1.Time{}
	}
	out[pod] = given
	return out
}

// recordCopied makes a new status for a permit and leaves the given one alone: the way that is
// simple to get right.
func recordCopied(s kruise.PodUnavailableBudgetStatus, r rules.Request, now time.Time) kruise.PodUnavailableBudgetStatus {
	given := metav1.Time{Time: now.Truncate(time.Second)}
	s.UnavailableAllowed--
	if r.Operation == kruise.PubUpdateOperation {
		s.UnavailablePods = withPermit(s.UnavailablePods, r.Pod.Name, given)
	} else {
		s.DisruptedPods = withPermit(s.DisruptedPods, r.Pod.Name, given)
	}
	return s
}

// TestPermit_RecordEqualsCopiedStatus asks two views of one budget the same random questions: one
// records its permits in place, the other in a copy. Verdicts and statuses stay equal, and no
// decision changes the status that it was made by.
func TestPermit_RecordEqualsCopiedStatus(t *testing.T) {
	operations := []kruise.PubOperation{kruise.PubDeleteOperation, kruise.PubUpdateOperation, kruise.PubEvictOperation, kruise.PubResizeOperation}
	permits := 0
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 39))
		pods := webPods(1 + random.IntN(12))
		spec := maxUnavailable([]string{"1", "30%", "3"}[random.IntN(3)])
		inPlace, copied := guard(spec, pods, cloneSetOf(int32(len(pods)))), guard(spec, pods, cloneSetOf(int32(len(pods))))
		for range 60 {
			if random.IntN(4) == 0 {
				inPlace.Now = inPlace.Now.Add(time.Duration(random.IntN(9000)) * time.Millisecond)
				copied.Now = inPlace.Now
				inPlace.count()
				copied.count()
			}
			r := rules.Request{Pod: pods[random.IntN(len(pods))], Operation: operations[random.IntN(len(operations))]}
			before := copyOf(inPlace.Budget.Status)
			verdict, permit := inPlace.Decide(r)
			if diff := cmp.Diff(before, inPlace.Budget.Status); diff != "" {
				t.Fatalf("seed %d: a decision changed the status that it was made by (-before +after):\n%s", seed, diff)
			}
			if permit != nil {
				permit.Record(&inPlace.Budget.Status)
				permits++
			}
			want, wantPermit := copied.Decide(r)
			if wantPermit != nil {
				copied.Budget.Status = recordCopied(copied.Budget.Status, r, copied.Now)
			}
			if verdict != want {
				t.Fatalf("seed %d: %s of %s: %+v, want %+v", seed, r.Operation, r.Pod.Name, verdict, want)
			}
			if diff := cmp.Diff(copied.Budget.Status, inPlace.Budget.Status); diff != "" {
				t.Fatalf("seed %d: status after %s of %s (-copied +in place):\n%s", seed, r.Operation, r.Pod.Name, diff)
			}
		}
	}
	if permits < 100 {
		t.Errorf("only %d permits were given", permits)
	}
}

func copyOf(s kruise.PodUnavailableBudgetStatus) kruise.PodUnavailableBudgetStatus {
	s.DisruptedPods, s.UnavailablePods = maps.Clone(s.DisruptedPods), maps.Clone(s.UnavailablePods)
	return s
}

// TestPermit_RecordEviction does the same for a PodDisruptionBudget.
func TestPermit_RecordEviction(t *testing.T) {
	two, pods := intstr.FromInt32(2), webPods(5)
	v := evictions(policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &two}, pods, cloneSetOf(5))
	for i, allowed := range []bool{true, true, false} {
		before := v.Budget.Status.DeepCopy()
		verdict, permit := v.Evict(pods[i])
		if verdict.Allowed != allowed || (permit != nil) != allowed {
			t.Fatalf("eviction %d: %+v, permit %v", i, verdict, permit)
		}
		if diff := cmp.Diff(*before, v.Budget.Status); diff != "" {
			t.Fatalf("a decision changed the status that it was made by (-before +after):\n%s", diff)
		}
		if permit == nil {
			continue
		}
		want := *before
		want.DisruptionsAllowed--
		want.DisruptedPods = withPermit(want.DisruptedPods, pods[i].Name, metav1.Time{Time: labStart})
		permit.RecordEviction(&v.Budget.Status)
		if diff := cmp.Diff(want, v.Budget.Status); diff != "" {
			t.Fatalf("status (-want +got):\n%s", diff)
		}
	}
}
