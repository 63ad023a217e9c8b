package rules

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestDefaultOrder_EachRuleOutranksTheNext holds each rule of the comparator against the one below it:
// the pod named first wins although the later rules are against it.
func TestDefaultOrder_EachRuleOutranksTheNext(t *testing.T) {
	type edit = func(*cluster.Pod)
	ready := func(minutes int) edit {
		return func(p *cluster.Pod) { setReady(p, true, t0.Add(time.Duration(minutes)*time.Minute)) }
	}
	unready := func(p *cluster.Pod) { setReady(p, false, t0) }
	unbound := func(p *cluster.Pod) { p.Node = "" }
	phase := func(ph corev1.PodPhase) edit { return func(p *cluster.Pod) { p.Phase = ph } }
	restarts := func(n int) edit { return func(p *cluster.Pod) { p.Containers[0].Restarts = n } }
	created := func(minutes int) edit {
		return func(p *cluster.Pod) { p.Created = t0.Add(time.Duration(minutes) * time.Minute) }
	}
	sidecar := func(n int) edit {
		return func(p *cluster.Pod) {
			p.InitContainers = []cluster.Container{{Name: "mesh", Native: true, Restarts: n}}
		}
	}
	initial := func(n int) edit {
		return func(p *cluster.Pod) { p.InitContainers = []cluster.Container{{Name: "prepare", Restarts: n}} }
	}
	for _, c := range []struct {
		name        string
		first, then []edit
	}{
		{"unassigned before Pending", []edit{unbound}, []edit{phase(corev1.PodPending), unready}},
		{"Pending before Unknown", []edit{phase(corev1.PodPending)}, []edit{phase(corev1.PodUnknown), unready}},
		{"Unknown before Running", []edit{phase(corev1.PodUnknown)}, []edit{unready}},
		{"not ready before ready", []edit{unready}, []edit{ready(50), restarts(9)}},
		{"most recently ready first", []edit{ready(10)}, []edit{ready(9), restarts(9)}},
		{"more restarts first", []edit{restarts(2)}, []edit{restarts(1), created(30)}},
		{"more restarts among the not ready", []edit{unready, restarts(2)}, []edit{unready, restarts(1), created(30)}},
		{"restarts of native sidecars after those of containers", []edit{restarts(1)}, []edit{sidecar(5), created(30)}},
		{"more sidecar restarts first", []edit{sidecar(2)}, []edit{sidecar(1), created(30)}},
		{"init containers do not count", []edit{created(30)}, []edit{initial(7)}},
		{"newer first", []edit{created(2)}, []edit{created(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The name would decide the other way round.
			first, then := pod("z", "o"), pod("a", "o")
			for _, e := range c.first {
				e(first)
			}
			for _, e := range c.then {
				e(then)
			}
			for _, list := range [][]*cluster.Pod{{first, then}, {then, first}} {
				if got := names(inOrder(list)); got != "z a" {
					t.Errorf("order %s", got)
				}
			}
		})
	}
}

func TestDefaultOrder_Ties(t *testing.T) {
	a, b := pod("a", "o"), pod("b", "o")
	if got := names(inOrder([]*cluster.Pod{b, a})); got != "a b" {
		t.Errorf("a tie comes by name, got %s", got)
	}
	if c := sortKeyOf(a).compare(sortKeyOf(b)); c != 0 {
		t.Errorf("compare = %d for pods that are alike", c)
	}
}

// TestDefaultOrder_KeepsInput: sorting must not move the caller's pods.
func TestDefaultOrder_KeepsInput(t *testing.T) {
	list := pods(t, "3*o")
	if got := names(inOrder(list)); got != "p3 p2 p1" {
		t.Errorf("order %s", got)
	}
	if got := names(list); got != "p1 p2 p3" {
		t.Errorf("the input became %s", got)
	}
}

func TestTies(t *testing.T) {
	set := cloneSet(t, "replicas: 6", "")
	for i, word := range []string{"a", "a", "b", "a", "b", "b"} {
		p := pod("p"+itoa(i+1), "o")
		p.Labels["shard"] = word
		set.Pods = append(set.Pods, p)
	}
	setReady(set.Pods[5], true, t0.Add(time.Minute))
	show := func() string {
		var out []string
		for _, g := range set.Ties(set.updateCandidates(false)) {
			out = append(out, names(g))
		}
		return strings.Join(out, ", ")
	}
	if got := show(); got != "p1 p2 p3 p4 p5" {
		t.Errorf("ties %s", got)
	}
	set.Spec = cloneSet(t, "replicas: 6\nupdateStrategy: {rollingUpdate: {scatterStrategy: [{key: shard, value: a}]}}", "").Spec
	if got := show(); got != "p1 p2 p4, p3 p5" && got != "p3 p5, p1 p2 p4" {
		t.Errorf("ties with scatter %s", got)
	}
	set.Spec = cloneSet(t, "replicas: 6\nupdateStrategy: {rollingUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchLabels: {shard: b}}}]}}}", "").Spec
	if got := show(); got != "p3 p5, p1 p2 p4" {
		t.Errorf("ties with priority %s", got)
	}
}

func labelled(name string, pairs ...string) *cluster.Pod {
	p := pod(name, "o")
	for i := 0; i < len(pairs); i += 2 {
		p.Labels[pairs[i]] = pairs[i+1]
	}
	return p
}

func TestOrderPriority_WorkedExample(t *testing.T) {
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

func TestOrderPriority_Numbers(t *testing.T) {
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

// TestOrderPriority_FirstKeyWins: a pod with two keys belongs to the first.
func TestOrderPriority_FirstKeyWins(t *testing.T) {
	strategy := &kruise.UpdatePriorityStrategy{OrderPriority: []kruise.UpdatePriorityOrderTerm{{OrderedKey: "k1"}, {OrderedKey: "k2"}}}
	list := []*cluster.Pod{labelled("both", "k1", "1", "k2", "9"), labelled("second", "k2", "5"), labelled("first", "k1", "2")}
	if got, want := names(prioritize(list, strategy)), "first both second"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestWeightPriority_SumsMatchingTerms(t *testing.T) {
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

// lettered makes one pod per letter, named a1, b2 …, with the label l.
func lettered(text string) []*cluster.Pod {
	var out []*cluster.Pod
	for i, r := range text {
		out = append(out, labelled(string(r)+itoa(i+1), "l", string(r)))
	}
	return out
}

func letters(list []*cluster.Pod) string {
	var out strings.Builder
	for _, p := range list {
		out.WriteString(p.Labels["l"])
	}
	return out.String()
}

func terms(values ...string) []kruise.UpdateScatterTerm {
	out := make([]kruise.UpdateScatterTerm, len(values))
	for i, v := range values {
		out[i] = kruise.UpdateScatterTerm{Key: "l", Value: v}
	}
	return out
}

func TestScatter(t *testing.T) {
	for _, c := range []struct{ candidates, updated, want string }{
		// The examples of docs/kruise/workloads.md#update-order.
		{"aaabbbbbb", "", "abbbabbba"},
		{"aabbb", "", "abbba"},
		{"aaaaabb", "", "aabaaba"},
		{"aaab", "", "aaab"},
		// One of a kind is not worth it.
		{"abbbb", "", "abbbb"},
		{"bbbb", "", "bbbb"},
		{"", "", ""},
		// Recorded in 031: 5 of 7 have the label and go one at a time; each
		// round starts again from what is left.
		{"bbaaaaa", "", "aabaaba"},
		{"bbaaaa", "a", "baabaa"},
		{"baaaa", "ab", "baaaa"},
	} {
		candidates := lettered(c.candidates)
		all := append(lettered(c.updated), candidates...)
		if got := letters(scattered(candidates, all, terms("a"))); got != c.want {
			t.Errorf("%s (updated %q) -> %s, want %s", c.candidates, c.updated, got, c.want)
		}
	}
}

// TestScatter_KeepsOrder: inside its kind every pod keeps its place, except that
// nothing is lost and nothing doubled.
func TestScatter_KeepsOrder(t *testing.T) {
	for _, text := range []string{"aabbabab", "abababab", "bbbbaaaa", "aaaabbbbccc", "abcabcabcabc"} {
		list := lettered(text)
		for _, values := range [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "c"}, {"x"}} {
			out := scattered(list, list, terms(values...))
			if len(out) != len(list) {
				t.Fatalf("%s by %v: %d pods became %d", text, values, len(list), len(out))
			}
			if len(values) > 1 {
				continue
			}
			term := terms(values...)[0]
			if names(filter(out, carries(term))) != names(filter(list, carries(term))) ||
				names(filter(out, not(carries(term)))) != names(filter(list, not(carries(term)))) {
				t.Errorf("%s by %v: %s", text, values, names(out))
			}
		}
	}
}

// TestScatter_TermsByMatches: the term that matches most pods cuts first,
// whatever the order of the list.
func TestScatter_TermsByMatches(t *testing.T) {
	list := lettered("aaabbcccc")
	first := letters(scattered(list, list, terms("a", "b")))
	second := letters(scattered(list, list, terms("b", "a")))
	if first != second {
		t.Errorf("%s and %s", first, second)
	}
	byHand := scattered(scattered(list, list, terms("a")), list, terms("b"))
	if first != letters(byHand) {
		t.Errorf("%s, want %s", first, letters(byHand))
	}
}

func TestScatter_NeedsTheKey(t *testing.T) {
	list := []*cluster.Pod{labelled("x1"), labelled("x2"), labelled("y1", "l", ""), labelled("y2", "l", ""), labelled("x3")}
	term := kruise.UpdateScatterTerm{Key: "l", Value: ""}
	if got, want := names(scattered(list, list, []kruise.UpdateScatterTerm{term})), "y1 x1 x2 x3 y2"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}
