package load

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// hostilePieces are what documents are broken with: all indicators of YAML, other line ends,
// characters that readers treat differently, and values of two types.
var hostilePieces = []string{
	"a", ":", " ", "\n", "- ", "-", "#", "\"", "'", "[", "]", "{", "}", ",", "?", "|", "|-", "~", "1", "ü", "  ", "---", "...", "=", "<",
	"b: c", ": ", " #", "!", "&", "*", "%", "@", ">", "+", ".", "\\", "0", "null", "\u00a0",
	"\t", "\r", "\r\n", "\u2028", "\ufeff", "\u0085", "\x7f", "\x00", "? ", "<<: ", "!!str ", "&x ", "*x", "yes", "0o7", "0b1", "1_0",
	"1e3", ".inf", "2001-01-01", "\n\n", "\n  ", "\n    ", "\n # x", "\n#x\n", "|+", "|2", ">-", "`", "    ",
}

// TestDirect_ReadsHostilePiecesAsTheLibrary: behind each place where the reader decides, every pair of pieces.
func TestDirect_ReadsHostilePiecesAsTheLibrary(t *testing.T) {
	for _, start := range []string{
		"", "a:", "a: ", "a:\n- ", "a:\n  b:\n", "a: |\n", "a: [", "a: {b: ", "# c\n", "a: b\n", "a: {", "a:\n- b: c\n", "a: \"x\"", "a: 'x'", "a: |-\n  x\n", "- ",
	} {
		for _, first := range hostilePieces {
			for _, second := range hostilePieces {
				if text := start + first + second; validText(text) {
					agrees(t, []byte(text))
				}
			}
		}
	}
}

// TestDirect_ReadsBrokenManifestsAsTheLibrary: of manifests of the repository with pieces put in,
// left out, replaced, and taken from other manifests.
func TestDirect_ReadsBrokenManifestsAsTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4)) // the same documents each time
	docs := documents(t, 4000)
	read := 0
	for range brokenManifests {
		text := slices.Clone(docs[random.IntN(len(docs))])
		for range 1 + random.IntN(3) {
			text = breakAnywhere(random, text, docs[random.IntN(len(docs))])
		}
		if validText(string(text)) && agrees(t, text) {
			read++
		}
		if t.Failed() {
			return
		}
	}
	if read < brokenManifests/20 {
		t.Errorf("only %d of %d documents are read directly", read, brokenManifests)
	}
}

const brokenManifests = 30000

// breakAnywhere returns a text with one change at a random place.
func breakAnywhere(random *rand.Rand, text, other []byte) []byte {
	at := random.IntN(len(text) + 1)
	piece := []byte(hostilePieces[random.IntN(len(hostilePieces))])
	switch random.IntN(5) {
	case 0:
		return slices.Insert(text, at, piece...)
	case 1:
		return slices.Delete(text, at, min(len(text), at+1+random.IntN(4)))
	case 2:
		return slices.Replace(text, at, min(len(text), at+1), piece...)
	case 3:
		from := random.IntN(len(other) + 1)
		return slices.Insert(text, at, other[from:min(len(other), from+random.IntN(60))]...)
	default:
		return text[:at]
	}
}

// validText reports whether load hands a text to a reader of YAML at all.
func validText(s string) bool { return checkText("in", []byte(s)) == nil }

// documents are those of the manifests of the repository, up to a size.
func documents(t *testing.T, most int) (texts [][]byte) {
	t.Helper()
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
			if len(d.text) <= most {
				texts = append(texts, d.text)
			}
		}
	}
	return texts
}

// TestDirect_KeysStayAsTheyWere: documents share their keys, so no stage may edit one in place. After
// all manifests of the repository went through rendering and conversion, they are read as before.
func TestDirect_KeysStayAsTheyWere(t *testing.T) {
	converted := func(to string) func([]*resource.Resource) error {
		return func(in []*resource.Resource) error {
			targets, err := convert.ParseTargets([]string{to})
			if err == nil {
				_, err = convert.ToKinds(in, convert.Options{Targets: targets})
			}
			return err
		}
	}
	rendered := func(opt render.Options) func([]*resource.Resource) error {
		return func(in []*resource.Resource) error { _, err := render.Render(in, opt); return err }
	}
	uses := map[string]func([]*resource.Resource) error{
		"native":     rendered(render.Options{Patches: true}),
		"for Kruise": rendered(render.Options{Target: render.Kruise, Expand: []string{"WorkloadSpread", "UnitedDeployment", "SidecarSet"}}),
		"v1alpha1":   func(in []*resource.Resource) error { _, _, err := convert.ToVersion(in, "v1alpha1"); return err },
		"v1beta1":    func(in []*resource.Resource) error { _, _, err := convert.ToVersion(in, "v1beta1"); return err },
		"to Kruise":  converted("kruise"),
		"to native":  converted("native"),
	}
	paths, done := manifests(t), map[string]int{}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, use := range uses {
			if in, err := Parse(path, body); err == nil && use(in) == nil {
				done[name]++
			}
		}
	}
	for _, doc := range documents(t, 1<<20) {
		agrees(t, doc)
		if t.Failed() {
			return
		}
	}
	for name := range uses {
		if done[name] < len(paths)/4 {
			t.Errorf("%s: only %d of %d files", name, done[name], len(paths))
		}
	}
}

// TestDirect_KeysAreChecked: the test above sees an edited key.
func TestDirect_KeysAreChecked(t *testing.T) {
	d := &direct{}
	n, _ := d.document("kind: a\n", 0)
	root := n.Content[0]
	root.Content[0].Value = strings.ToUpper(root.Content[0].Value)
	if again, _ := d.document("kind: a\n", 0); again.Content[0].Content[0].Value != "KIND" {
		t.Error("keys are not shared")
	}
}
