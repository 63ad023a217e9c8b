package stage

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

func TestReplace_IsBounded(t *testing.T) {
	double := func(r *resource.Resource) ([]*resource.Resource, error) { return []*resource.Resource{r, r}, nil }
	in := make([]*resource.Resource, 5)
	c := New(nil, Options{Limits: Limits{Objects: 10}})
	if out, err := c.Replace(in, double); err != nil || len(out) != 10 {
		t.Errorf("%d objects, %v; want 10", len(out), err)
	}
	c.Limits.Objects = 9
	want := "this would become more than 9 objects"
	for range 3 {
		if _, err := c.Replace(in, double); err == nil || err.Error() != want+"\nhint: render parts of it separately, or raise the limit of objects" && err.Error() != want {
			t.Fatalf("%v, want %s", err, want)
		}
	}
}

func TestBudget_StopsAtTheLimit(t *testing.T) {
	b := NewBudget(3)
	if !b.Spend(3) || b.Err("%s", "object") != nil {
		t.Error("the limit itself is kept")
	}
	if b.Spend(1) || b.Err("more than %s", "object").Error() != "more than 3 objects" {
		t.Error("one more is too many")
	}
}

func TestLimits_OrDefaultFillsZeros(t *testing.T) {
	if got := (Limits{Subsets: 5}).OrDefault(); got.Subsets != 5 || got.Objects != DefaultObjects || got.Copies != DefaultCopies || got.CopyBytes != DefaultCopyBytes || got.Containers != DefaultContainers {
		t.Errorf("%+v", got)
	}
}

// TestRoom_NamesAFlagThatHelps: the hint can be copied, and what it gives is room enough for as much
// again.
func TestRoom_NamesAFlagThatHelps(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		want   string
	}{
		"the default":   {Limits{}, "--limit output-nodes=6000000"},
		"a given limit": {Limits{OutputNodes: 10}, "--limit output-nodes=20"},
		"bytes":         {Limits{OutputNodes: 1 << 40, OutputBytes: 100}, "--limit output-bytes=200"},
	} {
		room := New(nil, Options{Limits: c.limits}).Room()
		room.Take(tree.Weight{Nodes: DefaultOutputNodes + 1, Bytes: 1000})
		fault, ok := errors.AsType[*resource.Error](room.Err("the output"))
		if !ok || !strings.HasSuffix(fault.Hint, c.want) {
			t.Errorf("%s: %v, want a hint that ends with %s", name, fault, c.want)
		}
	}
}
