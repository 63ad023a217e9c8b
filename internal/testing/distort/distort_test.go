package distort_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// TestText_ReachesEachPiece: words, signs and what is below a key are each replaced.
func TestText_ReachesEachPiece(t *testing.T) {
	const text = "a: {b: 'c d'}\ne:\n- f: 1\n  g: 2\nh: 3\n"
	var all []string
	for at := range uint16(60) {
		all = append(all, distort.Text(text, distort.Change{At: at, By: 10}))
	}
	for _, want := range []string{
		"a: {b: text}\ne:\n- f: 1\n  g: 2\nh: 3\n", "a: text\ne:\n- f: 1\n  g: 2\nh: 3\n", "a: {b: 'c d'}\ne: text\nh: 3\n",
		"a: {b: 'c d'}\ne:\n- f: text\n  g: 2\nh: 3\n", "a: {b: 'c d'}\ne:\n- f: 1\n  text: 2\nh: 3\n", "a: {b: 'c d'}\ne:\n- f: 1\n  g: 2\nh: text\n",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(all, "----\n"))
		}
	}
	if got := distort.Text("", distort.Change{At: 7, By: 200}); got != "" {
		t.Errorf("%q", got)
	}
	if got := distort.Text("a b", distort.Change{At: 0, By: 254}); got != "a b" && got != "b b" {
		t.Errorf("%q", got)
	}
}
