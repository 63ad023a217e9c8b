package references_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRun_EqualsGolden follows the references of testdata/CASE/input.yaml. became.txt
// says what earlier stages did, a line per object:
//
//	KIND NAME -> APIVERSION KIND NAME REPLICAS, ...
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/*/input.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, in := staged(t, dir)
			out, err := references.Run(c, in)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, dir, c, out)
			pointsNowhere(t, c, out)
		})
	}
}

// staged returns the stream as the stage before leaves it, without what the
// expanded objects became: only the others are looked at.
func staged(t *testing.T, dir string) (*stage.Context, []*resource.Resource) {
	t.Helper()
	input := golden.Read(t, dir, "input.yaml")
	c := stage.New(resource.NewFacts(input, nil, "shop"), stage.Options{})
	became, err := os.ReadFile(filepath.Join(dir, "became.txt"))
	if err != nil {
		t.Fatal(err)
	}
	now := map[string][]*resource.Resource{}
	for line := range strings.Lines(string(became)) {
		old, pieces, _ := strings.Cut(line, " -> ")
		now[old] = workloads(t, pieces)
	}
	var in []*resource.Resource
	for _, r := range input {
		key := r.Kind() + " " + r.Name()
		if targets, ok := now[key]; ok {
			for _, w := range targets {
				tree.SetAt(w.Edit(), tree.String(r.Namespace()), "metadata", "namespace")
			}
			c.Lineage.Split(r.ID(), evenly(len(targets)), targets...)
			in = append(in, targets...)
			continue
		}
		in = append(in, r)
	}
	return c, in
}

// evenly shares replicas out over so many pieces, the first of which take what is left.
type evenly int

func (n evenly) At(total int32) []int32 {
	out := make([]int32, n)
	for i := range total {
		out[i%int32(n)]++
	}
	return out
}

func workloads(t *testing.T, line string) (out []*resource.Resource) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimSpace(line), ", ") {
		var version, kind, name string
		var replicas int
		if part == "" {
			continue
		}
		if n, err := fmt.Sscanf(part, "%s %s %s %d", &version, &kind, &name, &replicas); n != 4 {
			t.Fatalf("%q: %v", part, err)
		}
		out = append(out, resource.Parsed(tree.Map("apiVersion", version, "kind", kind,
			"metadata", tree.Map("name", name), "spec", tree.Map("replicas", replicas)), nil, resource.Origin{}))
	}
	return out
}

// pointsNowhere fails when any mapping of the output still names an expanded
// object by group, kind and name.
func pointsNowhere(t *testing.T, c *stage.Context, out []*resource.Resource) {
	t.Helper()
	gone := map[string]bool{}
	for _, id := range c.Lineage.IDs() {
		gone[fmt.Sprint(id.Namespace, " ", id.Group, " ", id.Kind, " ", id.Name)] = true
	}
	for _, r := range out {
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				group := resource.GroupOf(fmt.Sprint(v["apiVersion"]))
				if key := fmt.Sprint(r.Namespace(), " ", group, " ", v["kind"], " ", v["name"]); gone[key] {
					t.Errorf("%s still names %s", r.ID(), key)
				}
				for _, child := range v {
					walk(child)
				}
			case []any:
				for _, child := range v {
					walk(child)
				}
			}
		}
		walk(tree.Value(tree.Get(r.Node(), "spec")))
	}
}
