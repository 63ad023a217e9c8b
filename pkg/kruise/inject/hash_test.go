package inject

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func parse(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		tb.Fatal(err)
	}
	if _, err := tree.Expand(&n, 0, tree.Limits{}); err != nil {
		tb.Fatal(err)
	}
	return tree.Root(&n)
}

func TestHashes_EqualKruise(t *testing.T) {
	full, without, err := Hashes(parse(t, `containers: [{name: container1, image: test-image}]`))
	if err != nil {
		t.Fatal(err)
	}
	if want := "6fw5fv54xx4dxx6x475wd9xxvc8c94b5c47cvbb2b89c6xz7cd54czdcxwfc2bb2"; full != want {
		t.Errorf("hash %s, want %s", full, want)
	}
	if want := "84747bw4dz9vc4bbzbzcc4w9d28264654b24654f5z22fc8c644wvd9fx62v5fvc"; without != want {
		t.Errorf("hash without image %s, want %s", without, want)
	}
}

// TestConformanceHashes compares with the hashes that were stored on every
// recorded SidecarSet and revision.
func TestConformanceHashes(t *testing.T) {
	sets := 0
	for _, c := range conformance.List(t, "injection") {
		if !c.Has("hashes.yaml") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			input, err := c.Read("input.yaml")
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.Read("hashes.yaml")
			if err != nil {
				t.Fatal(err)
			}
			objects, err := conformance.Docs(input)
			if err != nil {
				t.Fatal(err)
			}
			current := map[string]*tree.Node{}
			for _, o := range objects {
				if o["kind"] == "SidecarSet" {
					n := tree.FromValue(o)
					current[tree.StrAt(n, "metadata", "name")] = tree.Get(n, "spec")
				}
			}
			tree.Each(parse(t, string(want)), func(name, stored *tree.Node) {
				sets++
				full, without, err := Hashes(current[name.Value])
				if err != nil {
					t.Fatal(err)
				}
				if full != tree.StrAt(stored, "hash") || without != tree.StrAt(stored, "hashWithoutImage") {
					t.Errorf("%s: hashes %s %s, want %s", name.Value, full, without, tree.Value(stored))
				}
			})
		})
	}
	if sets == 0 {
		t.Error("no hash was compared")
	}
}
