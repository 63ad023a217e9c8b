package tree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		aliased        bool
	}{
		{"nothing to do", "a: [1, {b: c}]", "a: [1, {b: c}]", false},
		{"an alias", "a: &x {b: 1}\nc: *x", "{a: {b: 1}, c: {b: 1}}", true},
		{"an alias of a scalar", "a: &x 7\nc: [*x, *x]", "{a: 7, c: [7, 7]}", true},
		{"an alias in an alias", "a: &x 1\nb: &y [*x]\nc: *y", "{a: 1, b: [1], c: [1]}", true},
		{"an anchor that is not used", "a: &x 1", "{a: 1}", true},
		{"an anchor used again", "a: &x 1\nb: *x\nc: &x 2\nd: *x", "{a: 1, b: 1, c: 2, d: 2}", true},
		{"merge", "a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}", "{a: {k: 1, l: 2}, b: {l: 3, k: 1}}", true},
		{"earlier sources win", "a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}", "{a: {k: 1}, b: {k: 2, l: 2}, c: {k: 1, l: 2}}", true},
		{"merge of a literal mapping", "a: {<<: {k: 1}}", "{a: {k: 1}}", true},
		{"merge of a merge", "a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}", "{a: {k: 1}, b: {l: 2, k: 1}, c: {l: 2, k: 1}}", true},
		{"<< as a value", "a: <<\nb: [<<, !!merge x]", `{a: "<<", b: ["<<", x]}`, false},
		{"another key tagged so", "!!merge k: 1", "{k: 1}", false},
		{"a mapping tagged so", "a: !!merge {k: 1}\nb: !!merge [1]", "{a: {k: 1}, b: [1]}", false},
		{"a quoted << is a key", `a: {"<<": 1}`, `{a: {"<<": 1}}`, false},
	} {
		n := document(t, c.in)
		aliased, err := Expand(n, 0, Limits{Nodes: 1000, Depth: 50})
		if err != nil || aliased != c.aliased {
			t.Errorf("%s: aliased %v, %v", c.name, aliased, err)
			continue
		}
		if diff := cmp.Diff(Value(document(t, c.want)), Value(n)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		if s := leftover(n); s != "" {
			t.Errorf("%s: %s is left", c.name, s)
		}
	}
}

func TestExpand_RefusesCyclesAndGrowth(t *testing.T) {
	many := "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
	for i, c := range "bcdefghij" {
		many += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", "abcdefghi"[i]), 9), "abcdefghi"[i])
	}
	for _, c := range []struct {
		name, in, want string
		line           int
	}{
		{"an alias inside its own value", "a: 1\nb: &x\n  c: *x\n", "an alias is cyclic", 13},
		{"an alias of an outer list", "a: &x [1, [*x]]\n", "an alias is cyclic", 11},
		{"a bomb of aliases", many, "aliases make the document grow beyond 1000 nodes", 13},
		{"a long document", "[" + strings.Repeat("1,", 1001) + "1]", "the document grows beyond 1000 nodes", 11},
		{"a deep document", strings.Repeat("[", 60) + strings.Repeat("]", 60), "nesting is deeper than 50 levels", 11},
		{"a key twice", "a: 1\nb: 2\na: 3\n", `key "a" appears twice in one mapping (first on line 11)`, 13},
		{"a key twice among many", numbered(40) + "k7: again\n", `key "k7" appears twice in one mapping (first on line 18)`, 51},
		{"a key that is nothing", "a: {b: 1,&c : d}\n", "a mapping key is empty or null", 11},
		{"a key that is null", "a: 1\nnull: 2\n", "a mapping key is empty or null", 12},
		{"a key that is a list", "a: 1\n? [b]\n: 2\n", "a mapping key is not a scalar", 12},
		{"a merge of text", "a: {<<: text}\n", "merge key << does not name a mapping", 11},
		{"a merge of texts", "a: {<<: [text]}\n", "merge key << does not name a mapping", 11},
		{"two merges", "a: &x {k: 1}\nb: {<<: *x, <<: *x}\n", `key "<<" appears twice`, 12},
	} {
		_, err := Expand(document(t, c.in), 10, Limits{Nodes: 1000, Depth: 50})
		var te *Error
		if !errors.As(err, &te) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(te.Msg, c.want) || te.Line != c.line {
			t.Errorf("%s: line %d: %s", c.name, te.Line, te.Msg)
		}
	}
}

// An alias of an anchor that the same mapping merges: what is copied must not
// be shared, or an edit of one would be seen in the other.
func TestExpand_SharesNoNode(t *testing.T) {
	n := document(t, "a: &x {k: {l: 1}}\nb: *x\nc: {<<: *x}\nd: {<<: [*x]}\n")
	if _, err := Expand(n, 0, Limits{}); err != nil {
		t.Fatal(err)
	}
	seen := map[*Node]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if seen[n] {
			t.Errorf("line %d: %s is shared", n.Line, n.Value)
		}
		seen[n] = true
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(n)
}

// Lines count on from the offset, once for each node, aliases included.
func TestExpand_CountsLinesFromTheOffset(t *testing.T) {
	n := document(t, "a: &x\n  k: 1\nb: *x\nc:\n  <<: *x\n  l: 2\n")
	if _, err := Expand(n, 100, Limits{}); err != nil {
		t.Fatal(err)
	}
	for path, line := range map[string]int{"a": 101, "a.k": 102, "b.k": 102, "c": 105, "c.l": 106, "c.k": 102} {
		if got := LineOf(n, path); got != line {
			t.Errorf("%s: line %d, want %d", path, got, line)
		}
	}
}

func TestExpand_KeepsCommentsOfAliases(t *testing.T) {
	n := document(t, "a: &x 1 # of a\nb: *x # of b\n")
	if _, err := Expand(n, 0, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, n); got != "a: 1 # of a\nb: 1 # of b\n" {
		t.Errorf("%s", got)
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{
		"a: &x {b: [1, *x]}", "a: &x [1]\nb: [*x, *x]", "a: &x {<<: {b: 1}, c: 2}\nd: {<<: [*x, *x]}",
		"? [a]\n: b", "{a: 1, a: 2}", "a: &x {<<: *x}", "&x a: *x", "a: &a [*a]", "---\n...\n", "<<: *x", "!!merge <<: {a: b}",
		"a: &x\n  b: &y {c: *x}", "- &a [x]\n- &b [*a, *a]\n- [*b, *b, *b]",
	} {
		f.Add(seed)
	}
	limits := Limits{Nodes: 5000, Depth: 100, Bytes: 1 << 16}
	f.Fuzz(func(t *testing.T, text string) {
		var n Node
		if len(text) > 256 || yaml.Unmarshal([]byte(text), &n) != nil {
			return
		}
		_, err := Expand(&n, 3, limits)
		if err != nil {
			var te *Error
			if !errors.As(err, &te) || te.Msg == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if s := leftover(&n); s != "" {
			t.Fatalf("%s is left", s)
		}
		if c := Count(&n); c.Nodes > int64(2*limits.Nodes) || c.Bytes > 2*(int64(len(text))+limits.Bytes) {
			t.Fatalf("%d nodes, %d bytes", c.Nodes, c.Bytes)
		}
		if again := Clone(&n); !Equal(again, &n) {
			t.Fatal("a clone is not equal")
		}
		if back := FromValue(Value(&n)); !Equal(back, Root(&n)) && !odd(&n) {
			t.Fatalf("through values: %v", Value(&n))
		}
	})
}

// odd reports scalars whose value has no JSON, or that YAML tags by hand.
func odd(n *Node) bool {
	if IsScalar(n) {
		switch n.ShortTag() {
		case yaml.NodeTagString, yaml.NodeTagBool, yaml.NodeTagNull:
			return n.Tag != "" && n.Style&yaml.TaggedStyle != 0
		}
		return true
	}
	return n.Style&yaml.TaggedStyle != 0 || slices.ContainsFunc(n.Content, odd)
}

func document(tb testing.TB, text string) *Node {
	tb.Helper()
	var n Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		tb.Fatalf("%v in %.200s", err, text)
	}
	return &n
}

func printed(tb testing.TB, n *Node) string {
	tb.Helper()
	text, err := yaml.Marshal(n)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: x\n", i)
	}
	return b.String()
}

// leftover names an alias, an anchor or a merge key, "" when there is none.
func leftover(n *Node) string {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Alias != nil || n.Tag == "!!merge" {
		return fmt.Sprintf("%q (anchor %q, tag %s, line %d)", n.Value, n.Anchor, n.Tag, n.Line)
	}
	for _, c := range n.Content {
		if s := leftover(c); s != "" {
			return s
		}
	}
	return ""
}
