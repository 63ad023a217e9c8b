package tree

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"in its place", "{a: 1, old: 2, z: 3}", "{a: 1, new: v, z: 3}"},
		{"the new key has a place", "{new: 0, old: 2, z: 3}", "{new: v, z: 3}"},
		{"nothing to replace", "{a: 1}", "{a: 1, new: v}"},
	} {
		n := written(t, c.in)
		Replace(n, "old", "new", String("v"))
		if want := written(t, c.want); !Equal(n, want) || keys(n) != keys(want) {
			t.Errorf("%s: got keys %s, want %s", c.name, keys(n), keys(want))
		}
	}
}

func written(t *testing.T, text string) *Node {
	t.Helper()
	var n Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return Root(&n)
}

func keys(n *Node) (s string) {
	Each(n, func(k, _ *Node) { s += k.Value + " " })
	return s
}
