package load

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestDirect_ReadsAsTheLibrary: what is read directly are the nodes that yaml.v3 makes, and what must be left to
// it is left.
func TestDirect_ReadsAsTheLibrary(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		left bool
	}{
		"usual":                     {in: "---\na: b\nc:\n  d: 1\n  e: [x, y]\nl:\n- a\n- b: c\n  d: true\nm:\n  - n\n"},
		"no marker":                 {in: "\n\na: b\n\n\nc:\n\n  d: 1\n\n"},
		"no line end":               {in: "a: b"},
		"quotes":                    {in: "a: \"1\"\nb: '2'\n\"c\": d\n'e f': \"\"\n- ", left: true},
		"quoted keys":               {in: "\"a\": 1\n'b': ''\nc:\n- \"d\": e\n- \"f\"\n- 'g: h'\n"},
		"escapes":                   {in: "a: \"b\\n\"\n", left: true},
		"escaped quotes":            {in: "a: 'b''c'\n", left: true},
		"empty collections":         {in: "a: {}\nb: [ ]\nc:\n  - {}\n  - []\n"},
		"brackets":                  {in: "a: {b: c, d: [1, \"2\", {e: f}], 'g': h }  # i\n"},
		"brackets over lines":       {in: "a: [b,\n  c]\n", left: true},
		"pairs in lists":            {in: "a: [b: c]\n", left: true},
		"keys alone":                {in: "a: {b}\n", left: true},
		"trailing commas":           {in: "a: [b, ]\n", left: true},
		"nothing":                   {in: "a:\nb:   \n\nc:\n  d:\ne:\n"},
		"nothing at the end":        {in: "a:"},
		"block text":                {in: "a: |\n  one\n   two\n\n  three\nb: |-\n  x\nc:\n- |\n  y\n- z\nd: |\n    u\n\n\n"},
		"block text at the end":     {in: "a: |-\n  b\n\n  c\n"},
		"block text, no line end":   {in: "a: |-\n  b", left: true},
		"block text, comment":       {in: "a: |\n  b\n# c\nd: e\n", left: true},
		"block text, nothing":       {in: "a: |\nb: c\n", left: true},
		"comments above":            {in: "# zero\na: 1\n# one\n# two\nb:\n  # three\n  c: d\n  e:\n  # four\n  - f\n  # five\n  - g: h\n    # six\n    i: j\n# seven\nk: l\n"},
		"comments above, marked":    {in: "---\n# zero\n# one\na:\n    # two\n    # three\n  - b\n", left: true},
		"comments above items":      {in: "---\n# zero\n\n", left: true},
		"comments beside":           {in: "a: b # one\nc: [d]   # two\ne:\n- f # three\n- {} # four\n- g: \"h\" # five\n"},
		"comments beside keys":      {in: "a: # b\n  c: d\n", left: true},
		"comments beside dashes":    {in: "a:\n- # b\n  c: d\n", left: true},
		"comments apart":            {in: "a: b\n# foot\n\nc: d\n", left: true},
		"comments at the end":       {in: "a: b\n# foot\n", left: true},
		"comments elsewhere":        {in: "a:\n  b: c\n  # foot\nd: e\n", left: true},
		"comments after lines":      {in: "a: b\n\n# head\nc: d\ne:\n\n  # head\n  f: g\n"},
		"numbers":                   {in: "a: [1, -1, +1, 0, 007, 0x1F, 0o7, 1_000, 1e3, .5, -.inf, 2001-01-01, 1.2.3, 9223372036854775808, 20%, 10m, --f, -f]\n8080: x\n"},
		"words":                     {in: "a: yes\nb: true\nc: no\nd: null\ne: ~\nf: Null\ng: tRUE\nh: nothing\non: off\n"},
		"indicators":                {in: "a: b#c\nb: http://x:80/y?z=1\nc: -1-\nd: x -y\ne: a, b\n"},
		"colons":                    {in: "a: b: c\n", left: true},
		"space before the colon":    {in: "a : b\n", left: true},
		"values over lines":         {in: "a: b\n  c\n", left: true},
		"values below":              {in: "a:\n  b\n", left: true},
		"lists in lists":            {in: "a:\n- - b\n", left: true},
		"dashes with wide items":    {in: "a:\n-   b: c\n    d: e\n-   f\n"},
		"anchors":                   {in: "a: &x b\nc: *x\n", left: true},
		"tags":                      {in: "a: !!str 1\n", left: true},
		"merge keys":                {in: "<<: {a: b}\n", left: true},
		"folded":                    {in: "a: >\n  b\n", left: true},
		"tabs":                      {in: "a:\tb\n", left: true},
		"line ends of Windows":      {in: "a: b\r\n", left: true},
		"other letters":             {in: "# ü\na: ü # ö\nb: \"日本\"\nc: |\n  ü\nd:\n- ü\n"},
		"keys of other letters":     {in: "ü: a\n", left: true},
		"brackets of other letters": {in: "a: [ü, b]\n", left: true},
		"separators of lines":       {in: "a: b\u2028c\n", left: true},
		"lists":                     {in: "- a\n", left: true},
		"text":                      {in: "a\n", left: true},
		"two documents":             {in: "a: b\n---\nc: d\n", left: true},
		"end of document":           {in: "a: b\n...\n", left: true},
		"directives":                {in: "%YAML 1.1\n---\na: b\n", left: true},
		"indented":                  {in: "  a: b\n", left: true},
		"badly indented":            {in: "a:\n    b: c\n  d: e\n", left: true},
		"empty":                     {in: "", left: true},
		"deep":                      {in: "a: " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "\n", left: true},
		"long keys":                 {in: strings.Repeat("k", 2000) + ": v\n", left: true},
	} {
		t.Run(name, func(t *testing.T) {
			if ok := agrees(t, []byte(c.in)); ok == c.left {
				t.Errorf("read directly: %t", ok)
			}
		})
	}
}

// TestDirect_CoversUsualManifests: nearly all manifests of the repository are read directly, and all of these
// as yaml.v3 does.
func TestDirect_CoversUsualManifests(t *testing.T) {
	all, direct := 0, 0
	for _, path := range manifests(t) {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := split(path, body, defaultMaxObjects)
		if err != nil {
			continue
		}
		for _, d := range docs {
			all++
			if agrees(t, d.text) {
				direct++
			}
		}
	}
	if all < 1000 || direct*10 < all*8 {
		t.Errorf("%d of %d documents", direct, all)
	}
	t.Logf("%d of %d documents", direct, all)
}

// manifests are the YAML files of the repository.
func manifests(t *testing.T) (paths []string) {
	t.Helper()
	for _, root := range []string{"../../../examples", "../../../test/render", "../../../testdata", "../testdata", "testdata", "../.."} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".yaml") {
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// FuzzDirect: of any document.
func FuzzDirect(f *testing.F) {
	for _, s := range []string{
		"a: {b: [c, 'd'], \"e\": 1}\n# x\nf: |\n  g\nh: i # j\nk:\n  - l: m\n    n: 2001-01-01\n",
		"---\n# c\na:\n# d\n- b: c\n  # e\n  d:\n    - e\n\n  f: |-\n    g\n\n     h\n- i\n\n# j\nk:\nl: ''\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) <= 256 && checkText("in", in) == nil {
			agrees(t, in)
		}
	})
}

// agrees reports whether a text is read directly, which has to be as yaml.v3 reads it.
func agrees(t *testing.T, text []byte) bool {
	t.Helper()
	const before = 7
	got, ok := readDirectly(text, before, tree.Limits{})
	if !ok {
		return false
	}
	want := &tree.Node{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(want); err != nil {
		t.Fatalf("yaml.v3 refuses it: %v\n%s", err, text)
	}
	if err := dec.Decode(&tree.Node{}); err == nil {
		t.Fatalf("yaml.v3 sees two documents:\n%s", text)
	}
	if _, err := tree.Expand(want, before, tree.Limits{}); err != nil {
		t.Fatalf("yaml.v3 reads what is wrong: %v\n%s", err, text)
	}
	withoutKeyLines(want, got)
	if reflect.DeepEqual(want, got) {
		return true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-yaml.v3 +direct\n%s\n%s", diff, text)
	}
	return true
}

// TestDirect_ReadsRandomLinesAsTheLibrary: of documents of lines that fit together or do not.
func TestDirect_ReadsRandomLinesAsTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // the same documents each time
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	read := 0
	for range randomDocuments {
		var b strings.Builder
		b.WriteString(pick([]string{"", "", "---\n", "# x\n", "---\n# y\n"}))
		indent := 0
		for range 1 + random.IntN(8) {
			indent = max(indent+random.IntN(3)*2-2, 0)
			b.WriteString(strings.Repeat(" ", max(indent+deviation(random), 0)))
			b.WriteString(pick([]string{"", "", "", "", "- ", "- ", "-   "}))
			b.WriteString(pick([]string{"a:", "b:", "c:", "d: ", "'e':", "f", "# g", "", "\"h\": ", "8: "}))
			b.WriteString(pick([]string{"", "", " ", " v", " w", " 'x'", " \"y\"", " [z, {a: b}]", " {}", " |", " |-", " 12", " yes", " ~", " i:j", " k#l"}))
			b.WriteString(pick([]string{"", "", "", "", " # m", "  # n", " "}))
			b.WriteString(pick([]string{"\n", "\n", "\n", "\n", "\n\n", "\n  \n"}))
		}
		text := b.String()
		if random.IntN(4) == 0 {
			text = strings.TrimRight(text, "\n")
		}
		if agrees(t, []byte(text)) {
			read++
		}
		if t.Failed() {
			return
		}
	}
	if read < randomDocuments/100 {
		t.Errorf("only %d of %d documents are read directly", read, randomDocuments)
	}
	t.Log(read)
}

const randomDocuments = 50000

// deviation is by how much a line is indented wrongly, nearly always 0.
func deviation(random *rand.Rand) int {
	if random.IntN(12) > 0 {
		return 0
	}
	return random.IntN(3) - 1
}

// withoutKeyLines takes the lines from the keys of want that have none in got, because documents share them.
func withoutKeyLines(want, got *tree.Node) {
	for i := range min(len(want.Content), len(got.Content)) {
		if key := got.Content[i]; want.Kind == yaml.MappingNode && i%2 == 0 && key.Line == 0 && key.HeadComment == "" {
			want.Content[i].Line = 0
		}
		withoutKeyLines(want.Content[i], got.Content[i])
	}
}

func TestDirect_LeavesWhatIsWrongToTheLibrary(t *testing.T) {
	deep := strings.Repeat("[", 10) + strings.Repeat("]", 10)
	for text, lim := range map[string]tree.Limits{
		"a: b\na: c\n":             {},
		"a: {b: c, b: d}\n":        {},
		"null: a\n":                {},
		"a: {~: b}\n":              {},
		"a: [1, 2, 3]\n":           {Nodes: 4},
		"a: " + deep + "\n":        {Depth: 5},
		manyKeys(40) + "k7: again": {},
	} {
		if _, ok := readDirectly([]byte(text), 0, lim); ok {
			t.Errorf("%q is read", text)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

// TestDirect_SharesKeys: with every document, but for those that are read again as something else or
// have a comment; and what is remembered is bounded.
func TestDirect_SharesKeys(t *testing.T) {
	d := &direct{}
	read := func(text string) *tree.Node {
		n, ok := d.document(text, 0)
		if !ok {
			t.Fatal("not read", text)
		}
		return tree.Root(n)
	}
	a, b := read("name: x\non: 1\n8: y\n# c\nkind: z\n"), read("name: x\non: 1\n8: y\n# c\nkind: z\n")
	for i := 0; i < len(a.Content); i += 2 {
		if shared := a.Content[i] == b.Content[i]; shared != (i == 0) {
			t.Errorf("%s is shared: %t", a.Content[i].Value, shared)
		}
	}
	for i := range 10 {
		read(strings.ReplaceAll(manyKeys(1000), "k", "k"+strconv.Itoa(i)+"_"))
	}
	if len(d.keys) > maxKeys+1000 {
		t.Errorf("%d keys are remembered", len(d.keys))
	}
}
