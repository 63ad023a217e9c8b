package emit

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// elements are of the kinds that get injected, and odd ones.
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

// styles are both ways to indent lists.
var styles = []yaml.SequenceIndentStyle{yaml.CompactSequenceStyle, yaml.WideSequenceStyle}

// TestDirect: what is written directly is what yaml.v3 writes, and what must be left to it
// is left.
func TestDirect(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		left bool
	}{
		"usual":                    {in: "a: b\nc:\n  d: 1\n  e: [x, y]\nl:\n- a\n- b: c\n  d: true\n"},
		"quotes":                   {in: `a: "1"` + "\nb: '2'\nc: \"say \\\"hi\\\" \\\\\"\nd: 'it''s'\n\"k\": v\n'2': w\n"},
		"empty":                    {in: "a: {}\nb: []\nc:\n  - {}\n  - []\n"},
		"brackets":                 {in: "a: {b: c, d: [1, \"2\", {e: f}], 'g': h}\n"},
		"block text":               {in: "a: |\n  one\n   two\n\n  three\nb: |-\n  x\nc:\n- |\n  y\n- z\n"},
		"comments above":           {in: "a: 1\n# one\n# two\nb:\n  # three\n  c: d\n  e:\n  # four\n  - f\n  # five\n  - g: h\n    # six\n    i: j\n"},
		"comments beside":          {in: "a: b # one\nc: [d] # two\ne:\n- f # three\n- {} # four\n"},
		"indicators":               {in: "a: '- b'\nb: 'c: d'\nc: 'e #f'\nd: g#h\ne: http://x:80/y?z=1\nf: -1-\ng: \"*\"\nh: '%'\ni: 'x:'\n"},
		"words":                    {in: "a: yes\nb: \"true\"\nc: no\nd: 1e3\ne: \"1e3\"\nf: 2001-01-01\ng: \"0x1F\"\nh: null\ni: ~\nj: .5\nk: 1_000\n"},
		"anchors":                  {in: "a: &x b\nc: *x\n", left: true},
		"tags":                     {in: "a: !!str 1\n", left: true},
		"foot":                     {in: "a: b\n# foot\n\nc: d\n", left: true},
		"lists in lists":           {in: "a:\n- - b\n", left: true},
		"folded":                   {in: "a: >\n  b\n", left: true},
		"other letters":            {in: "a: ü\nb: \"日本 \\\"x\"\nc: '–'\nü: |\n  ü\n"},
		"letters that are escaped": {in: "a: \"\U0001F600\"\n", left: true},
		"nothing":                  {in: "a:\nb: c\n", left: true},
		"long key":                 {in: strings.Repeat("k", 129) + ": v\n", left: true},
		"kept line ends":           {in: "a: |+\n  b\n\nc: d\n", left: true},
		"block begins with blanks": {in: "a: |2\n   b\n", left: true},
		"blanks at line ends":      {in: "a: \"b \\nc\"\n", left: true},
		"merge keys":               {in: "a: {<<: {b: c}}\n", left: true},
		"control letters":          {in: "a: \"\\a\"\n", left: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, style := range styles {
				if ok := agrees(t, parsed(t, c.in), style); ok == c.left {
					t.Errorf("%s: written directly %t", style, ok)
				}
			}
		})
	}
}

// TestDirect_ValuesOfTheEngine: values as the engine makes them, without any style.
func TestDirect_ValuesOfTheEngine(t *testing.T) {
	n := tree.Map("a", "1", "b", 1, "c", true, "d", "true", "e", "", "f", tree.Seq(tree.String("x"), tree.String("- y"), tree.Map("z", "0x1")), "g", "a\nb\n", "1", "2")
	if !agrees(t, n, yaml.CompactSequenceStyle) {
		t.Error("left to yaml.v3")
	}
}

// TestDirect_CoversMostExamples: nearly all documents of the examples are written directly.
func TestDirect_CoversMostExamples(t *testing.T) {
	paths, err := filepath.Glob("../../../examples/*/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no examples", err)
	}
	all, direct := 0, 0
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range documents(text) {
			all++
			if agrees(t, n, styleOf(n)) {
				direct++
			} else {
				t.Logf("left: %s line %d", p, n.Line)
			}
		}
	}
	if direct*10 < all*8 {
		t.Errorf("%d of %d documents", direct, all)
	}
}

// FuzzDirect: of any document.
func FuzzDirect(f *testing.F) {
	texts := slices.Concat(elements, []string{"a: {b: [c, 'd'], \"e\": 1}\n# x\nf: |\n  g\nh: i # j\nk:\n  - l: m\n    n: 2001-01-01\n"})
	distort.Fuzz(f, texts, func(t *testing.T, in string) {
		t.Helper()
		for _, n := range documents([]byte(in)) {
			for _, style := range styles {
				agrees(t, n, style)
			}
		}
	})
}

// agrees reports whether n is written directly, which has to be as yaml.v3 writes it.
func agrees(t *testing.T, n *tree.Node, style yaml.SequenceIndentStyle) bool {
	t.Helper()
	got, ok := (&direct{}).document(n, style)
	if !ok {
		return false
	}
	want, err := byLibrary(n, style)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -yaml.v3 +direct\n%s", style, diff)
	}
	return true
}

// documents reads the mappings of a stream, as far as it can be read.
func documents(text []byte) (out []*tree.Node) {
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		if dec.Decode(&n) != nil {
			return out
		}
		if len(n.Content) == 1 {
			out = append(out, n.Content[0])
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
