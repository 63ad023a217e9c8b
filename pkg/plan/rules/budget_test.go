package rules

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// budget makes a budget over pods that all name it.
func budget(t *testing.T, spec string, expected int, words string) *Budget {
	t.Helper()
	b := &Budget{Name: "b", Spec: &kruise.PodUnavailableBudgetSpec{}, Expected: expected, Pods: pods(t, words)}
	decode(t, spec, b.Spec)
	for _, p := range b.Pods {
		p.Annotations = map[string]string{kruise.RelatedBudgetAnnotation: "b"}
	}
	return b
}

func TestBudget_Counts(t *testing.T) {
	for _, c := range []struct {
		name, spec string
		expected   int
		pods       string
		want       BudgetCounts
	}{
		// The examples of docs/kruise/protection.md#podunavailablebudget.
		{"25% of 10, 9 available", "maxUnavailable: 25%", 10, "9*n n!", BudgetCounts{10, 7, 9, 2}},
		{"minAvailable half of 5", "minAvailable: 50%", 5, "5*n", BudgetCounts{5, 3, 5, 2}},
		{"minAvailable above the replicas", "minAvailable: 5", 3, "3*n", BudgetCounts{3, 5, 3, 0}},
		{"404 all of 5", "minAvailable: 100%", 5, "5*n", BudgetCounts{5, 5, 5, 0}},
		{"more unavailable than there are", "maxUnavailable: 9", 3, "3*n", BudgetCounts{3, 0, 3, 3}},
		{"100%", "maxUnavailable: 100%", 3, "3*n", BudgetCounts{3, 0, 3, 3}},
		{"terminating and not ready", "maxUnavailable: 1", 3, "n n! n^", BudgetCounts{3, 2, 1, 0}},
		{"protectTotalReplicas", "maxUnavailable: 1\nprotectTotalReplicas: 6", 3, "3*n", BudgetCounts{6, 5, 3, 0}},
		{"a target without scale", "maxUnavailable: 1", -1, "3*n", BudgetCounts{-1, 0, 3, 3}},
		{"fewer expected than there are", "maxUnavailable: 1", 2, "3*n", BudgetCounts{2, 1, 3, 2}},
	} {
		if diff := cmp.Diff(c.want, budget(t, c.spec, c.expected, c.pods).Counts()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestBudget_CountsOnly: records, labels and updates in progress take a pod out of
// the count.
func TestBudget_CountsOnly(t *testing.T) {
	b := budget(t, "maxUnavailable: 1", 4, "4*n")
	b.Disrupted = []string{"p1"}
	if got := b.Counts().Allowed; got != 0 {
		t.Errorf("one on record: %d allowed", got)
	}
	b.Disrupted, b.Unavailable = nil, []string{"p2"}
	if got := b.Counts().Current; got != 3 {
		t.Errorf("one on record: %d available", got)
	}
	b.Unavailable = nil
	b.Pods[0].Labels[kruise.UnavailablePodLabelPrefix+"x"] = ""
	if got := b.Counts().Current; got != 3 {
		t.Errorf("one by label: %d available", got)
	}
	b.Busy = busy(func(p *cluster.Pod) bool { return p.Name == "p2" })
	if got := b.Counts().Current; got != 2 {
		t.Errorf("one being updated: %d available", got)
	}
}

func TestBudget_Decide(t *testing.T) {
	request := func(op kruise.PubOperation) Request { return Request{Operation: op} }
	for _, c := range []struct {
		name, spec, pods string
		r                Request
		edit             func(*Budget, *cluster.Pod)
		allowed, record  bool
		why              string
	}{
		{"allowed and noted", "maxUnavailable: 1", "3*n", request("DELETE"), nil, true, true, "allows 0 more"},
		{"used up", "maxUnavailable: 1", "2*n n!", request("DELETE"), nil, false, false, "2 pods are available, 2 are wanted: p1 waits"},
		{"no annotation", "maxUnavailable: 1", "2*n n!", request("DELETE"), func(_ *Budget, p *cluster.Pod) { p.Annotations = nil }, true, false, "no budget"},
		{"the older annotation", "maxUnavailable: 1", "2*n n!", request("DELETE"), func(_ *Budget, p *cluster.Pod) {
			p.Annotations = map[string]string{kruise.RelatedBudgetOlderAnnotation: "b"}
		}, false, false, "waits"},
		{"harmless update", "maxUnavailable: 1", "2*n n!", Request{Operation: "UPDATE", Harmless: true}, nil, true, false, "nothing that the budget guards"},
		{"harmless counts for updates only", "maxUnavailable: 1", "2*n n!", Request{Operation: "DELETE", Harmless: true}, nil, false, false, "waits"},
		{"exempt", "maxUnavailable: 1", "2*n n!", request("EVICT"), func(_ *Budget, p *cluster.Pod) { p.Annotations[kruise.NoProtectAnnotation] = "true" }, true, false, "exempt"},
		{"exempt by a word that means no", "maxUnavailable: 1", "2*n n!", request("EVICT"), func(_ *Budget, p *cluster.Pod) { p.Annotations[kruise.NoProtectAnnotation] = "false" }, false, false, "waits"},
		{"406: not ready anyway", "maxUnavailable: 1", "n! n n!", request("UPDATE"), nil, true, false, "not available anyway"},
		{"being updated", "maxUnavailable: 1", "2*n n!", request("UPDATE"), func(b *Budget, _ *cluster.Pod) { b.Busy = busy(func(*cluster.Pod) bool { return true }) }, true, false, "not available anyway"},
		{"ignored", "maxUnavailable: 1\nignoredPodSelector: {matchLabels: {skip: me}}", "2*n n!", request("DELETE"), func(_ *Budget, p *cluster.Pod) { p.Labels["skip"] = "me" }, true, false, "ignores the pod"},
		{"not ignored", "maxUnavailable: 1\nignoredPodSelector: {matchLabels: {skip: me}}", "2*n n!", request("DELETE"), nil, false, false, "waits"},
		{"nothing wanted", "maxUnavailable: 100%", "2*n n!", request("DELETE"), nil, true, false, "no available pod"},
		{"408: protects deletion only", "maxUnavailable: 1\nprotectOperations: [DELETE]", "2*n n!", request("UPDATE"), nil, true, false, "does not protect from UPDATE"},
		{"on record already", "maxUnavailable: 1", "2*n n!", request("DELETE"), func(b *Budget, _ *cluster.Pod) { b.Disrupted = []string{"p1"} }, true, false, "let through before"},
		{"too many records", "maxUnavailable: 1", "3*n", request("DELETE"), func(b *Budget, _ *cluster.Pod) { b.Disrupted = make([]string, budgetRecords+1) }, false, false, "are recorded"},
		{"resize is an update", "maxUnavailable: 1", "2*n n!", request("RESIZE"), nil, false, false, "waits"},
		{"resize where the cluster knows it", "maxUnavailable: 1", "2*n n!", request("RESIZE"), func(b *Budget, _ *cluster.Pod) { b.VerticalScaling = true }, true, false, "does not protect from RESIZE"},
		{"resize listed", "maxUnavailable: 1\nprotectOperations: [RESIZE]", "2*n n!", request("RESIZE"), func(b *Budget, _ *cluster.Pod) { b.VerticalScaling = true }, false, false, "waits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := budget(t, c.spec, 3, c.pods)
			c.r.Pod = b.Pods[0]
			if c.edit != nil {
				c.edit(b, b.Pods[0])
			}
			got := b.Decide(b.Counts(), c.r)
			counted := *b
			counted.Records = &kruise.PodUnavailableBudgetStatus{DisruptedPods: map[string]metav1.Time{}, UnavailablePods: map[string]metav1.Time{}}
			for i, name := range b.Disrupted {
				if name == "" {
					name = strconv.Itoa(i)
				}
				counted.Records.DisruptedPods[name] = metav1.Time{}
			}
			for _, name := range b.Unavailable {
				counted.Records.UnavailablePods[name] = metav1.Time{}
			}
			if diff := cmp.Diff(got, counted.Decide(counted.Counts(), c.r)); diff != "" {
				t.Errorf("lists of records (-) and their count (+):\n%s", diff)
			}
			if got.Allowed != c.allowed || got.Record != c.record || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v", got)
			}
		})
	}
	var gone *Budget
	p := budget(t, "maxUnavailable: 1", 1, "n").Pods[0]
	if got := gone.Decide(BudgetCounts{}, Request{Pod: p, Operation: "DELETE"}); !got.Allowed || got.Record {
		t.Errorf("a budget that is gone: %+v", got)
	}
}

// TestBudget_DecideAt: the webhook goes by the counts it is given, the pods as they
// are it does not look at.
func TestBudget_DecideAt(t *testing.T) {
	b := budget(t, "maxUnavailable: 1", 3, "n 2*n!")
	for _, c := range []struct {
		name          string
		counts        BudgetCounts
		allow, record bool
	}{
		{"one more", BudgetCounts{3, 2, 3, 1}, true, true},
		{"none", BudgetCounts{3, 2, 2, 0}, false, false},
		{"none is asked for", BudgetCounts{-1, 0, 1, 0}, true, false},
	} {
		got := b.Decide(c.counts, Request{Pod: b.Pods[0], Operation: kruise.PubDeleteOperation})
		if got.Allowed != c.allow || got.Record != c.record {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := b.Decide(BudgetCounts{3, 2, 0, 0}, Request{Pod: b.Pods[1], Operation: kruise.PubDeleteOperation}); !got.Allowed || got.Record {
		t.Errorf("an unready pod: %+v", got)
	}
}

func TestEvictAt(t *testing.T) {
	b := disruptionBudget(t, "maxUnavailable: 1", 3, "n 2*n!")
	if got := b.Evict(BudgetCounts{3, 2, 3, 1}, b.Pods[0]); !got.Allowed || !got.Record {
		t.Errorf("one more: %+v", got)
	}
	if got := b.Evict(BudgetCounts{3, 2, 2, 0}, b.Pods[0]); got.Allowed {
		t.Errorf("none: %+v", got)
	}
}

func disruptionBudget(t *testing.T, spec string, expected int, words string) *DisruptionBudget {
	t.Helper()
	b := &DisruptionBudget{Name: "b", Spec: &policyv1.PodDisruptionBudgetSpec{}, Expected: expected, Pods: pods(t, words)}
	decode(t, spec, b.Spec)
	return b
}

func TestDisruptionBudget_Counts(t *testing.T) {
	for _, c := range []struct {
		name, spec string
		expected   int
		pods       string
		want       BudgetCounts
	}{
		{"maxUnavailable", "maxUnavailable: 1", 3, "3*n", BudgetCounts{3, 2, 3, 1}},
		{"a percentage is rounded up", "maxUnavailable: 25%", 10, "9*n n!", BudgetCounts{10, 7, 9, 2}},
		{"minAvailable counts the pods that are there", "minAvailable: 2", 5, "3*n", BudgetCounts{3, 2, 3, 1}},
		{"minAvailable as a percentage", "minAvailable: 50%", 5, "5*n", BudgetCounts{5, 3, 5, 2}},
		{"broken", "maxUnavailable: 1", 3, "n n! n^", BudgetCounts{3, 2, 1, 0}},
		{"no pods", "minAvailable: 0", 0, "", BudgetCounts{0, 0, 0, 0}},
	} {
		if diff := cmp.Diff(c.want, disruptionBudget(t, c.spec, c.expected, c.pods).Counts()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	b := disruptionBudget(t, "maxUnavailable: 1", 3, "3*n")
	b.Disrupted = []string{"p3"}
	if got := b.Counts().Allowed; got != 0 {
		t.Errorf("one on record: %d allowed", got)
	}
}

func TestEvict(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods string
		edit             func(*cluster.Pod)
		allowed, record  bool
		why              string
	}{
		{"allowed and noted", "maxUnavailable: 1", "3*n", nil, true, true, "allows 0 more"},
		{"used up", "maxUnavailable: 1", "2*n n!", nil, false, false, "p1 waits"},
		{"pending", "maxUnavailable: 0", "n! 2*n", func(p *cluster.Pod) { p.Phase = corev1.PodPending }, true, false, "does not run"},
		{"terminating", "maxUnavailable: 0", "n^ 2*n", nil, true, false, "does not run"},
		{"not ready, budget met", "maxUnavailable: 1", "n! 2*n", nil, true, false, "met without it"},
		{"not ready, budget not met", "maxUnavailable: 1", "2*n! n", nil, false, false, "p1 waits"},
		{"not ready, AlwaysAllow", "maxUnavailable: 1\nunhealthyPodEvictionPolicy: AlwaysAllow", "2*n! n", nil, true, false, "lets such pods go"},
		{"ready under AlwaysAllow", "maxUnavailable: 1\nunhealthyPodEvictionPolicy: AlwaysAllow", "n 2*n!", nil, false, false, "p1 waits"},
	} {
		b := disruptionBudget(t, c.spec, 3, c.pods)
		if c.edit != nil {
			c.edit(b.Pods[0])
		}
		if got := b.Evict(b.Counts(), b.Pods[0]); got.Allowed != c.allowed || got.Record != c.record || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
