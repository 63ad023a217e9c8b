package check_test

import (
	"bytes"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// odd are what a node of an object is replaced with.
var odd = []string{
	"null", "[]", "{}", "[null]", "[{}]", "[[a]]", "[a]", "{a: b}", "{'': b}", "text", "''", "-1", "0", "2147483648",
	"99999999999999999999", "1e99", "true", "'%'", "'101%'", "'TZ='", "'CRON_TZ=UTC'", "'@every'", "'5-3'", "'*'",
}

// FuzzObject replaces two nodes of a recorded object with something odd, and
// asks for all operations: whatever it is, it is let through or refused, by a
// rule of the catalogue.
func FuzzObject(f *testing.F) {
	cases := conformance.List(f, "lint")
	for i := range cases {
		f.Add(uint16(i), uint16(i*7), uint8(i), uint16(i*13), uint8(i*3))
	}
	var ids []string
	for _, r := range check.Rules() {
		ids = append(ids, r.ID)
	}
	f.Fuzz(func(t *testing.T, which, at uint16, by uint8, also uint16, and uint8) {
		c := cases[int(which)%len(cases)]
		good := read(t, c, "object.yaml")
		around := append(read(t, c, "setup.yaml"), read(t, c, "before.yaml")...)
		bad := distorted(t, distorted(t, []byte(text(t, c, "object.yaml")), int(at), int(by)), int(also), int(and))
		in, err := load.Parse("in.yaml", bad)
		if err != nil || len(in) == 0 {
			return
		}
		for _, q := range []check.Request{
			{Object: in[0]},
			{Object: in[0], Old: good[0]},
			{Object: good[0], Old: in[0]},
			{Object: in[0], Operation: check.Delete},
		} {
			for _, fault := range check.Object(newContext(in, append(around, good...)), q) {
				if !slices.Contains(ids, fault.Rule) || fault.Err == nil {
					t.Errorf("fault %v of rule %q", fault.Error, fault.Rule)
				}
			}
		}
	})
}

func read(t *testing.T, c conformance.Case, file string) []*resource.Resource {
	t.Helper()
	if !c.Has(file) {
		return nil
	}
	out, err := load.Parse(file, []byte(text(t, c, file)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// distorted replaces one node.
func distorted(t *testing.T, data []byte, at, by int) []byte {
	t.Helper()
	var n, other yaml.Node
	if yaml.Unmarshal(data, &n) != nil || len(n.Content) == 0 {
		return data
	}
	if err := yaml.Unmarshal([]byte(odd[by%len(odd)]), &other); err != nil {
		t.Fatal(err)
	}
	nodes := inside(n.Content[0])
	if len(nodes) == 0 {
		return data
	}
	*nodes[at%len(nodes)] = *other.Content[0]
	var out bytes.Buffer
	if yaml.NewEncoder(&out).Encode(&n) != nil {
		return data
	}
	return out.Bytes()
}

func inside(n *yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for _, child := range n.Content {
		all = append(append(all, child), inside(child)...)
	}
	return all
}
