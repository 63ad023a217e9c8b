package emit

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// elements are list elements of the kinds that get injected, and odd ones.
var elements = []string{
	"name: a\nimage: b\nargs: [x, 'y']\nenv:\n- name: A\n  value: \"1\"\n",
	"name: b\nlit: |\n  one\n\n   two\n  three\nkeep: |+\n  x\n\nz: {}\n",
	"name: c\nkeep: |+\n  x\n\n",
	"name: d\nindent: |2\n    a\n   b\nfold: >\n  a\n  b\n\n  c\n",
	"name: e # comment\n# before\nports:\n# in\n- containerPort: 1 # one\n- containerPort: 2\n",
	"name: f\nsq: 'a\n\n  b'\ndq: \"a\\n\\tb\"\nplain: a\n  b\n",
	"name: g\nnested:\n- - - a: b\n      c: d\n  - e\n- f: []\n",
	"# head\nname: h\nimage: i\nargs: [1, 2]\n",
	"name: i\nimage: i\nargs: [1, 2]\n# foot\n",
	"name: j\nempty:\nnull: ~\ntext: ''\n\"q\": |-\n  \n  x\n",
}

// TestRepeatsAreInvisible compares documents that share elements with the same
// documents without any sharing.
func TestRepeatsAreInvisible(t *testing.T) {
	nodes := make([]*tree.Node, len(elements))
	for i, e := range elements {
		nodes[i] = parsed(t, e)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var shared, own []*resource.Resource
		for range 4 {
			doc := document(t, r, nodes)
			shared = append(shared, resource.Parsed(doc, nil, resource.Origin{}))
			own = append(own, resource.Parsed(tree.Clone(doc), nil, resource.Origin{}))
		}
		want, got := written(t, own), written(t, shared)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-own +shared\n%s", diff)
		}
	}
}

// document puts some of nodes into lists at several depths.
func document(t *testing.T, r *rand.Rand, nodes []*tree.Node) *tree.Node {
	t.Helper()
	some := func() *tree.Node {
		s := tree.Seq(tree.Map("name", "own"))
		for range r.IntN(4) {
			s.Content = append(s.Content, nodes[r.IntN(len(nodes))])
		}
		if r.IntN(4) == 0 {
			s.Content = append(s.Content, tree.Seq(nodes[r.IntN(len(nodes))]))
		}
		return s
	}
	doc := parsed(t, []string{"a:\n- b\n", "a:\n  - b\n", "a: 1\n"}[r.IntN(3)])
	tree.SetAt(doc, some(), "spec", "template", "containers")
	tree.SetAt(doc, some(), "spec", "volumes")
	tree.SetAt(doc, tree.Seq(tree.Map("x", tree.Map("y", some()))), "list")
	flow := some()
	flow.Style = yaml.FlowStyle
	if r.IntN(8) == 0 {
		tree.SetAt(doc, flow, "flow")
	}
	return doc
}

func TestRepeatsAreFound(t *testing.T) {
	n := parsed(t, elements[0])
	doc := func() *resource.Resource {
		return resource.Parsed(tree.Map("spec", tree.Map("containers", tree.Seq(n))), nil, resource.Origin{})
	}
	rs := []*resource.Resource{doc(), doc()}
	if len(findRepeats(rs)) != 1 {
		t.Error("the element of both documents is not found")
	}
	if len(findRepeats(rs[:1])) != 0 {
		t.Error("an element of one document counts as repeated")
	}
}

// TestMarkInText holds that a document with the placeholder's own characters
// comes out right, if slowly.
func TestMarkInText(t *testing.T) {
	n := parsed(t, elements[0])
	text := tree.Seq(tree.String(mark + "0" + mark))
	for _, doc := range []*tree.Node{
		tree.Map("a", text, "b", tree.Seq(n, n)),
		tree.Map("b", tree.Seq(n, n), "z", text),
		tree.Map("b", tree.Seq(n, n, tree.String("x "+mark))),
	} {
		want := written(t, []*resource.Resource{resource.Parsed(tree.Clone(doc), nil, resource.Origin{})})
		got := written(t, []*resource.Resource{resource.Parsed(doc, nil, resource.Origin{})})
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, mark) {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func parsed(t *testing.T, text string) *tree.Node {
	t.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return tree.Root(&n)
}

func written(t *testing.T, rs []*resource.Resource) string {
	t.Helper()
	var b bytes.Buffer
	if err := Stream(&b, rs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
