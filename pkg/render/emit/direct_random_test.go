package emit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// texts are what YAML treats in a way of its own, or looks as if it did.
var texts = []string{
	"", " ", "a", "a b", " a", "a ", "-", "- a", "-a", "?", "? a", "?a", ":", ":a", "a:", "a: b", "a:b", "#", "#a", "a#", "a #b",
	"---", "--- a", "...", "....", "~", "null", "Null", "true", "True", "y", "no", "On", "off", "1", "01", "0o7", "0x1f", "+1", "-1",
	"1.", ".5", "1e3", ".inf", "-.INF", ".nan", "1:20", "1_000", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "<<", "=", "!x", "&x",
	"*x", "|", ">", "%x", "@x", "`x", "{", "}", "[", "]", ",", "a,b", "a{b", "'", "''", "it's", "\"", "\\", "\\n", "a\tb", "\t",
	"a\n", "a\nb", "\na", "a\n\n", "a \nb", "a\n b\n", " a\n", "a\n\nb\n", "\n", "ü", "日本", "\u2028", "\ufeff", "\u0085", "😀",
	"\u00a0", "\ufffd", strings.Repeat("k", 128), strings.Repeat("k", 129), "\x00", "\r", "\x7f", "a\u2029b\nc",
}

// forest makes trees, mostly of the usual kind.
type forest struct{ *rand.Rand }

// TestDirect_RandomTreesEqualYAML: trees of odd texts in all styles with odd comments.
func TestDirect_RandomTreesEqualYAML(t *testing.T) {
	f, direct := forest{rand.New(rand.NewPCG(5, 6))}, 0
	for range 60000 {
		n := f.mapping(3)
		for _, style := range styles {
			if agrees(t, n, style) {
				direct++
			}
		}
		if t.Failed() {
			t.Fatalf("%#v", tree.Value(n))
		}
	}
	if direct < 10000 {
		t.Errorf("only %d trees were written directly", direct)
	}
}

// rarely is true once in n times.
func (f forest) rarely(n int) bool { return f.IntN(n) == 0 }

func one[T any](f forest, list ...T) T { return list[f.IntN(len(list))] }

func (f forest) node(depth int) (n *tree.Node) {
	switch {
	case depth == 0 || f.rarely(2):
		n = f.text()
	case f.rarely(2):
		n = &tree.Node{Kind: yaml.SequenceNode, Tag: one(f, "", yaml.NodeTagSeq)}
		for range f.IntN(4) {
			n.Content = append(n.Content, f.node(depth-1))
		}
	default:
		n = f.mapping(depth)
	}
	f.comments(n)
	return n
}

func (f forest) mapping(depth int) *tree.Node {
	n := &tree.Node{Kind: yaml.MappingNode, Tag: one(f, "", yaml.NodeTagMap)}
	for range f.IntN(4) {
		key := f.text()
		if f.rarely(4) {
			key.HeadComment = "# above"
		}
		n.Content = append(n.Content, key, f.node(depth-1))
	}
	if f.rarely(5) {
		n.Style = yaml.FlowStyle
	}
	return n
}

// text is one of texts, mostly with a tag that yaml.v3 would give it.
func (f forest) text() *tree.Node {
	n := &tree.Node{Kind: yaml.ScalarNode, Value: one(f, texts...), Style: one(f, 0, 0, 0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle)}
	switch {
	case f.rarely(50):
		n.Tag = one(f, yaml.NodeTagInt, yaml.NodeTagNull, yaml.NodeTagBool, yaml.NodeTagFloat, "!!timestamp", "!mine")
	case f.rarely(4):
		n.Tag = yaml.NodeTagString
	default:
		n.Tag = n.ShortTag()
	}
	if f.rarely(20) {
		n.Style = one(f, yaml.LiteralStyle, yaml.FoldedStyle, yaml.TaggedStyle)
	}
	return n
}

func (f forest) comments(n *tree.Node) {
	if f.rarely(8) {
		n.HeadComment = one(f, "# c", "# c\n# d", "c", "#", "# c\n\n# d", "# ü")
	}
	if f.rarely(8) {
		n.LineComment = one(f, "# c", "# c\n# d", "c", "#", "# ü\u2028")
	}
	if f.rarely(100) {
		n.FootComment = "# foot"
	}
}
