package fn

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// FuzzKRM: whatever comes in, nothing panics, and what goes out is nothing or
// one ResourceList that can be read again, with the items that came in when
// there is an error, and never without items by accident.
func FuzzKRM(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "golden", "*", "in.yaml"))
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	var texts []string
	for _, path := range seeds {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	for _, s := range []string{cloneSet, sidecarSet, cloneSet + sidecarSet} {
		texts = append(texts, head+"items:\n"+s)
	}
	for _, manifest := range []string{zones, agent, pipeline} {
		texts = append(texts, head+"items:\n"+cloneSet+configured(manifest))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		in := []byte(text)
		out, err := runOnce(t, in)
		before, perr := parse(in)
		if perr != nil {
			if err == nil || out != "" {
				t.Fatalf("no ResourceList came in, and %q out, error %v", out, err)
			}
			return
		}
		after, perr := parse([]byte(out))
		if perr != nil {
			t.Fatalf("the output cannot be read: %v\n%s", perr, out)
		}
		switch {
		case err != nil && !tree.Equal(tree.Seq(before.items()...), tree.Seq(after.items()...)):
			t.Fatalf("an error (%v) changed the items:\n%s", err, out)
		case len(before.items()) > 0 && len(after.items()) == 0 && !strings.Contains(string(in), "allowEmpty") && !strings.Contains(string(in), "validate"):
			t.Fatalf("all items are gone:\n%s", in)
		}
		if again, _ := runOnce(t, in); again != out {
			t.Fatal("two runs, two results")
		}
	})
}

func runOnce(t *testing.T, in []byte) (string, error) {
	t.Helper()
	var out, said bytes.Buffer
	read := func(path string) ([]byte, error) {
		if path == "a" {
			return []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"), nil
		}
		return nil, os.ErrNotExist
	}
	err := Run(t.Context(), bytes.NewReader(in), &out, &said, read)
	return out.String(), err
}
