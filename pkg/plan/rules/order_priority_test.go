package rules

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func labelled(name string, pairs ...string) *cluster.Pod {
	p := pod(name, "o")
	for i := 0; i < len(pairs); i += 2 {
		p.Labels[pairs[i]] = pairs[i+1]
	}
	return p
}

func TestOrderPriority(t *testing.T) {
	strategy := &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "k1"}, {OrderedKey: "k2"}}}
	// The example "Also: orderPriority" of docs/kruise/workloads.md#worked-examples.
	list := []*cluster.Pod{
		labelled("a-5", "k1", "a-5"), labelled("none"), labelled("x-9", "k2", "x-9"),
		labelled("a-10", "k1", "a-10"), labelled("x-100", "k2", "x-100"),
	}
	if got, want := names(prioritize(list, strategy)), "none a-10 a-5 x-100 x-9"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if got := names(list); got != "a-5 none x-9 a-10 x-100" {
		t.Errorf("the input became %s", got)
	}
}

func TestOrderPriorityNumbers(t *testing.T) {
	strategy := &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "k"}}}
	list := []*cluster.Pod{
		labelled("zero", "k", "no-digits"), labelled("empty", "k", ""), labelled("seven", "k", "007"),
		labelled("huge", "k", "x99999999999999999999"), labelled("bigger", "k", "x100000000000000000000"),
		labelled("digits-first", "k", "9x"), labelled("sts-10", "k", "sts-10"),
	}
	if got, want := names(prioritize(list, strategy)), "bigger huge sts-10 seven zero empty digits-first"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

// TestOrderPriorityFirstKeyWins: a pod with two keys belongs to the first.
func TestOrderPriorityFirstKeyWins(t *testing.T) {
	strategy := &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "k1"}, {OrderedKey: "k2"}}}
	list := []*cluster.Pod{labelled("both", "k1", "1", "k2", "9"), labelled("second", "k2", "5"), labelled("first", "k1", "2")}
	if got, want := names(prioritize(list, strategy)), "first both second"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestWeightPriority(t *testing.T) {
	term := func(weight int32, selector metav1.LabelSelector) kruise.UpdatePriorityWeightTerm {
		return kruise.UpdatePriorityWeightTerm{Weight: weight, MatchSelector: selector}
	}
	equal := func(k, v string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{k: v}}
	}
	broken := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Odd"}}}
	list := []*cluster.Pod{
		labelled("plain"), labelled("low", "w", "low"), labelled("high", "w", "high"),
		labelled("both", "w", "low", "x", "y"), labelled("plain2"),
	}
	for _, c := range []struct {
		name  string
		terms []kruise.UpdatePriorityWeightTerm
		want  string
	}{
		{"no terms", nil, "plain low high both plain2"},
		{"by weight", []kruise.UpdatePriorityWeightTerm{term(20, equal("w", "low")), term(50, equal("w", "high"))}, "high low both plain plain2"},
		{
			"weights add up",
			[]kruise.UpdatePriorityWeightTerm{term(20, equal("w", "low")), term(50, equal("w", "high")), term(40, equal("x", "y"))},
			"both high low plain plain2",
		},
		{"weight 0 changes nothing", []kruise.UpdatePriorityWeightTerm{term(0, equal("w", "low"))}, "plain low high both plain2"},
		{"a broken selector matches nothing", []kruise.UpdatePriorityWeightTerm{term(99, broken), term(1, equal("x", "y"))}, "both plain low high plain2"},
		{"an empty selector matches all", []kruise.UpdatePriorityWeightTerm{term(99, metav1.LabelSelector{})}, "plain low high both plain2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := names(prioritize(list, &kruise.UpdatePriorityStrategy{WeightPriority: c.terms})); got != c.want {
				t.Errorf("order %s, want %s", got, c.want)
			}
		})
	}
}

func TestTrailingDigits(t *testing.T) {
	for in, want := range map[string]string{"sts-10": "10", "": "", "a": "", "a0": "", "a010": "10", "12": "12", "1a": "", "1a2": "2"} {
		if got := trailingDigits(in); got != want {
			t.Errorf("trailingDigits(%q) = %q, want %q", in, got, want)
		}
	}
}
