package rules

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

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
		if got := letters(scatter(candidates, all, terms("a"))); got != c.want {
			t.Errorf("%s (updated %q) -> %s, want %s", c.candidates, c.updated, got, c.want)
		}
	}
}

// TestScatterKeepsOrder: inside its kind every pod keeps its place, except that
// nothing is lost and nothing doubled.
func TestScatterKeepsOrder(t *testing.T) {
	for _, text := range []string{"aabbabab", "abababab", "bbbbaaaa", "aaaabbbbccc", "abcabcabcabc"} {
		list := lettered(text)
		for _, values := range [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "c"}, {"x"}} {
			out := scatter(list, list, terms(values...))
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

// TestScatterTermsByMatches: the term that matches most pods cuts first,
// whatever the order of the list.
func TestScatterTermsByMatches(t *testing.T) {
	list := lettered("aaabbcccc")
	first := letters(scatter(list, list, terms("a", "b")))
	second := letters(scatter(list, list, terms("b", "a")))
	if first != second {
		t.Errorf("%s and %s", first, second)
	}
	byHand := scatter(scatter(list, list, terms("a")), list, terms("b"))
	if first != letters(byHand) {
		t.Errorf("%s, want %s", first, letters(byHand))
	}
}

func TestScatterNeedsTheKey(t *testing.T) {
	list := []*cluster.Pod{labelled("x1"), labelled("x2"), labelled("y1", "l", ""), labelled("y2", "l", ""), labelled("x3")}
	term := kruise.UpdateScatterTerm{Key: "l", Value: ""}
	if got, want := names(scatter(list, list, []kruise.UpdateScatterTerm{term})), "y1 x1 x2 x3 y2"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}
