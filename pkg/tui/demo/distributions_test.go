package demo_test

import (
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestSidecars_ShowTheHotUpgrade checks that the matrix shows the hot upgrade until it ends.
func TestSidecars_ShowTheHotUpgrade(t *testing.T) {
	c := open(t)
	sets := look(t, c, world.Want{Sidecars: true}).Sidecars.Sets
	if len(sets) != 1 || len(sets[0].Cells) != 1 || !sets[0].Containers[0].Hot {
		t.Fatalf("%+v", sets)
	}
	if cell := sets[0].Cells[0]; cell.Workload.Name != "basket" || cell.Matched != 10 || cell.Updated == 0 || cell.Updated == 10 || len(cell.Upgrading) == 0 {
		t.Errorf("%+v", cell)
	}
	if err := c.Advance(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if cell := look(t, c, world.Want{Sidecars: true}).Sidecars.Sets[0].Cells[0]; cell.Updated != 10 || cell.Ready != 10 || len(cell.Upgrading) > 0 {
		t.Errorf("%+v", cell)
	}
}

// TestDistributions_Progress checks that every kind of distribution is there and progresses.
func TestDistributions_Progress(t *testing.T) {
	c := open(t)
	by := func() map[string]*world.Distribution {
		out := map[string]*world.Distribution{}
		for _, f := range look(t, c, world.Want{Distributions: true}).Distributions.List {
			out[f.Name] = f
		}
		return out
	}
	all := by()
	if len(all) != 4 || len(all["search-zones"].Places) != 3 || all["search-zones"].Got < 36 {
		t.Fatalf("%+v", all["search-zones"])
	}
	if f := all["warm-search"]; f.Got == 0 || f.Got == f.Wanted || f.Health == world.Healthy {
		t.Errorf("%+v", f)
	}
	if f := all["recommend"]; f.Health != world.Blocked || f.Places[2].Why == "" || f.Places[0].Updated != 6 {
		t.Errorf("%+v", f)
	}
	if f := all["registry-login"]; f.Got != 3 || f.Wanted != 4 || f.Health != world.Blocked {
		t.Errorf("%+v", f)
	}
	if err := c.Advance(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if f := by()["warm-search"]; f.Got != nodes-1 || f.Health != world.Blocked {
		t.Errorf("%+v", f)
	}
}

// nodes is how many the shop has.
const nodes = 12
