package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// cloneSet makes a CloneSet in the middle of a rollout from o to n, from the
// YAML of its spec and the words of [pods].
func cloneSet(t *testing.T, spec, words string) *CloneSet {
	t.Helper()
	c := &CloneSet{Spec: &kruise.CloneSetSpec{}, Current: "web-o", Update: "web-n", Now: now}
	decode(t, spec, c.Spec)
	if c.Spec.UpdateStrategy.RollingUpdate == nil && c.Spec.UpdateStrategy.Type == "" {
		c.Spec.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateCloneSetStrategy{}
	}
	c.Pods = pods(t, words)
	return c
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := tree.Decode(n.YNode(), into)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("%v, unknown fields %v", err, unknown)
	}
}

// TestCount_ActiveSideOnly: terminating and finished pods count nowhere.
func TestCount_ActiveSideOnly(t *testing.T) {
	c := cloneSet(t, "replicas: 3", "o o^ n n^")
	c.Pods = append(c.Pods, &cluster.Pod{Name: "done", Phase: "Succeeded"})
	n := c.Count(false)
	if n.Old.Active != 1 || n.New.Active != 1 {
		t.Errorf("counts %+v", n)
	}
}

func TestCount(t *testing.T) {
	c := cloneSet(t, "replicas: 9\nscaleStrategy: {podsToDelete: [p2], excludePreparingDelete: true}", "2*o o! o!- o= o=- n n! n~ n-")
	c.Gates.CloneSetPartitionRollback = true
	want := CloneSetCounts{
		Old:      CloneSetSide{Active: 6, PreparingDelete: 2, Marked: 2, Unavailable: 1, Ready: 4, Available: 2},
		New:      CloneSetSide{Active: 4, Marked: 1, Unavailable: 2, Ready: 3, Available: 2},
		Rollback: true, ExcludePreparingDelete: true,
	}
	if got := c.Count(false); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.Current = "n"
	if !c.Count(false).Settled {
		t.Error("equal hashes are not settled")
	}
	c.Current = ""
	if !c.Count(false).Settled {
		t.Error("no current revision is not settled")
	}
}

// TestCount_ForScaling: the gate PreparingUpdateAsUpdate moves pods to the new
// side for scaling, and only for scaling.
func TestCount_ForScaling(t *testing.T) {
	c := cloneSet(t, "replicas: 4", "o 2*o~ n")
	for _, step := range []struct {
		gate, scaling bool
		old, updated  int
	}{{false, false, 3, 1}, {false, true, 3, 1}, {true, false, 3, 1}, {true, true, 1, 3}} {
		c.Gates.PreparingUpdateAsUpdate = step.gate
		n := c.Count(step.scaling)
		if n.Old.Active != step.old || n.New.Active != step.updated {
			t.Errorf("%+v: %+v", step, n)
		}
	}
}

func TestLimitsOf_CloneSet(t *testing.T) {
	for _, c := range []struct {
		name     string
		replicas int32
		rolling  *kruise.RollingUpdateCloneSetStrategy
		scale    string
		want     Limits
	}{
		{
			name: "defaults", replicas: 10, rolling: &kruise.RollingUpdateCloneSetStrategy{},
			want: Limits{Replicas: 10, MaxUnavailable: 2, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "20% of 7 without surge is rounded up", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%")},
			want:    Limits{Replicas: 7, MaxUnavailable: 2, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "20% of 7 with surge is rounded down", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1")},
			want:    Limits{Replicas: 7, MaxUnavailable: 1, MaxSurge: 1, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "paused has no surge and rounds up again", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1"), Paused: true},
			want:    Limits{Replicas: 7, MaxUnavailable: 2, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "surge as a percentage is rounded up", replicas: 7,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1"), MaxSurge: value("20%")},
			want:    Limits{Replicas: 7, MaxUnavailable: 1, MaxSurge: 2, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "20% of 3 with surge is nothing (016)", replicas: 3,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("20%"), MaxSurge: value("1")},
			want:    Limits{Replicas: 3, MaxSurge: 1, ScaleMaxUnavailable: unlimited},
		},
		{
			name: "a fractional percentage is nothing", replicas: 10,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("33.3%")},
			want:    Limits{Replicas: 10, ScaleMaxUnavailable: unlimited},
		},
		{name: "without rollingUpdate 20% of 4 is none (005)", replicas: 4, want: Limits{Replicas: 4, ScaleMaxUnavailable: unlimited}},
		{name: "without rollingUpdate 20% of 5 is one (092)", replicas: 5, want: Limits{Replicas: 5, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited}},
		{
			name: "the scale limit is rounded up", replicas: 10, scale: "25%",
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1")},
			want:    Limits{Replicas: 10, MaxUnavailable: 1, ScaleMaxUnavailable: 3},
		},
		{
			name: "partition", replicas: 10,
			rolling: &kruise.RollingUpdateCloneSetStrategy{MaxUnavailable: value("1"), Partition: value("60%")},
			want:    Limits{Replicas: 10, Partition: 6, MaxUnavailable: 1, ScaleMaxUnavailable: unlimited},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := &kruise.CloneSetSpec{Replicas: &c.replicas}
			spec.UpdateStrategy.RollingUpdate = c.rolling
			if c.scale != "" {
				spec.ScaleStrategy.MaxUnavailable = value(c.scale)
			}
			got := LimitsOfCloneSet(spec)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.MaxUpdate() != c.want.Replicas-c.want.Partition {
				t.Errorf("MaxUpdate() = %d", got.MaxUpdate())
			}
		})
	}
	if got := LimitsOfCloneSet(&kruise.CloneSetSpec{}).Replicas; got != 1 {
		t.Errorf("replicas without a value = %d, want 1", got)
	}
}

// TestDiff are the CloneSet examples of docs/kruise/workloads.md#worked-examples; the numbers in
// the names are theirs. Fields that an example does not speak of are checked
// too: they follow from section 1.4 by hand.
func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, spec, pods string
		rollback         bool
		settled          bool
		want             CloneSetDiff
	}{
		{
			"1 basic", "replicas: 10\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%}}", "10*o", false, false,
			CloneSetDiff{DownOld: 10, DeleteReadyLimit: 2, Update: 10, UpdateBudget: 2},
		},
		{
			"1 two in the air", "replicas: 10\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%}}", "8*o 2*n!", false, false,
			CloneSetDiff{DownOld: 8, Update: 8, UpdateBudget: 2},
		},
		{
			"2 surge is created first", surge7, "7*o", false, false,
			CloneSetDiff{ScaleUp: 1, CreateNew: 1, DownOld: 7, DeleteReadyLimit: 1, Update: 7, UpdateBudget: 1, Surge: 1},
		},
		{
			"2 surge in use", surge7, "7*o n!", false, false,
			CloneSetDiff{DownOld: 7, DeleteReadyLimit: 1, Update: 6, UpdateBudget: 2, Surge: 1},
		},
		{
			"2 end", surge7, "o 7*n", false, false,
			CloneSetDiff{ScaleDown: 1, DownOld: 1, DeleteReadyLimit: 2, Update: 0, UpdateBudget: 2},
		},
		{
			"3 paused mid-surge", surge7paused, "7*o n!", false, false,
			CloneSetDiff{ScaleDown: 1, DownOld: 7, DeleteReadyLimit: 2, Update: 6, UpdateBudget: 3},
		},
		{
			"3 partition raised instead", "replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%, maxSurge: 1, partition: 7}}", "7*o n!", false, false,
			CloneSetDiff{ScaleDown: 1, DeleteReadyLimit: 1, UpdateBudget: 2},
		},
		{
			"4 partition 99%", "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 99%}}", "5*o", false, false,
			CloneSetDiff{DownOld: 1, DeleteReadyLimit: 1, Update: 1, UpdateBudget: 1},
		},
		{
			"4 partition 100%", "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 100%}}", "5*o", false, false,
			CloneSetDiff{DeleteReadyLimit: 1, UpdateBudget: 1},
		},
		{
			"5 undo under partition", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "2*o 8*n", true, true,
			CloneSetDiff{DeleteReadyLimit: 2, UpdateBudget: 2},
		},
		{
			"5 undo, partition 0", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 0}}", "2*o 8*n", false, true,
			CloneSetDiff{DownOld: 2, DeleteReadyLimit: 2, Update: 2, UpdateBudget: 2},
		},
		{
			"6 partition raised", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "5*o 5*n", false, false,
			CloneSetDiff{DeleteReadyLimit: 2, UpdateBudget: 2},
		},
		{
			"6 partition raised, gate on", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 8}}", "5*o 5*n", true, false,
			CloneSetDiff{DeleteReadyLimit: 2, Update: -3, UpdateBudget: 2},
		},
		{
			"both sides have one too many: the old one counts", "replicas: 2\nupdateStrategy: {rollingUpdate: {partition: 1}}", "2*o 2*n", true, false,
			CloneSetDiff{ScaleDown: 2, DownOld: 1, DeleteReadyLimit: 3, Update: 1, UpdateBudget: 3},
		},
		{
			"8 lost old pod", "replicas: 5\nupdateStrategy: {rollingUpdate: {partition: 3}}", "2*o 2*n", false, false,
			CloneSetDiff{ScaleUp: 1, CreateOld: 1, UpdateBudget: 0},
		},
		{
			"8 scale up under a number", "replicas: 8\nupdateStrategy: {rollingUpdate: {partition: 3}}", "3*o 2*n", false, false,
			CloneSetDiff{ScaleUp: 3, CreateNew: 3, UpdateBudget: -1},
		},
		{
			"8 scale up under a percentage", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 60%}}", "3*o 2*n", false, false,
			CloneSetDiff{ScaleUp: 5, CreateOld: 3, CreateNew: 2, UpdateBudget: -3},
		},
		{
			"9 scale in under a percentage", "replicas: 6\nupdateStrategy: {rollingUpdate: {partition: 50%, maxUnavailable: 1}}", "5*o 5*n", false, false,
			CloneSetDiff{ScaleDown: 4, DownOld: 2, DeleteReadyLimit: 5, UpdateBudget: 5},
		},
		{
			"9 scale in under a number", "replicas: 6\nupdateStrategy: {rollingUpdate: {partition: 5, maxUnavailable: 1}}", "5*o 5*n", false, false,
			CloneSetDiff{ScaleDown: 4, DeleteReadyLimit: 5, UpdateBudget: 5},
		},
		{
			"10 specified delete", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*n n-", false, true,
			CloneSetDiff{DeleteReadyLimit: 1, UpdateBudget: 1},
		},
		{
			"10 its replacement is not ready", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "2*n 2*n- n!", false, true,
			CloneSetDiff{UpdateBudget: 1},
		},
		{
			"10 fewer replicas with one marked", "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*n n-", false, true,
			CloneSetDiff{DeleteReadyLimit: 2, UpdateBudget: 2},
		},
		{
			"10 surge replaces first", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}", "4*n n-", false, true,
			CloneSetDiff{ScaleUp: 1, CreateNew: 1, Surge: 1},
		},
		{
			"10 surge pod available", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}", "4*n n- n", false, true,
			CloneSetDiff{DeleteReadyLimit: 1, UpdateBudget: 1, Surge: 1},
		},
		{
			"11 recreate, one is gone", recreate4, "3*o", false, false,
			CloneSetDiff{ScaleUp: 1, CreateNew: 1, DownOld: 1, Update: 1, UpdateBudget: 0},
		},
		{
			"11 recreate, replacement not ready", recreate4, "3*o n!", false, false,
			CloneSetDiff{DownOld: 1, Update: 1, UpdateBudget: 1},
		},
		{
			"11 end", recreate4, "2*o 2*n", false, false,
			CloneSetDiff{DeleteReadyLimit: 1, UpdateBudget: 1},
		},
		{
			"12 surge only, start", surge4, "4*o", false, false,
			CloneSetDiff{ScaleUp: 2, CreateNew: 2, DownOld: 4, Update: 4, Surge: 2},
		},
		{
			"12 surge pods not ready", surge4, "4*o 2*n!", false, false,
			CloneSetDiff{DownOld: 4, Update: 2, UpdateBudget: 2, Surge: 2},
		},
		{
			"12 surge pods ready", surge4, "4*o 2*n", false, false,
			CloneSetDiff{DownOld: 4, DeleteReadyLimit: 2, Update: 2, UpdateBudget: 2, Surge: 2},
		},
		{
			"12 end", surge4, "2*o 2*n 2*n!", false, false,
			CloneSetDiff{ScaleDown: 2, DownOld: 2, UpdateBudget: 2},
		},
		{
			"scale rate", "replicas: 10\nscaleStrategy: {maxUnavailable: 25%}\nupdateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "3*n n!", false, true,
			CloneSetDiff{ScaleUp: 6, CreateNew: 2, UpdateBudget: -4},
		},
		{
			"preDelete hold", "replicas: 5\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*o o=", false, false,
			CloneSetDiff{DownOld: 5, Update: 4, UpdateBudget: 1},
		},
		{
			"preDelete hold, excluded", "replicas: 5\nscaleStrategy: {excludePreparingDelete: true}\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "4*o o=", false, false,
			CloneSetDiff{ScaleUp: 1, CreateNew: 1, DownOld: 4, Update: 4, UpdateBudget: 1},
		},
		{
			"three revisions", "replicas: 10\nupdateStrategy: {rollingUpdate: {partition: 5, maxUnavailable: 2}}", "5*a 5*b", false, false,
			CloneSetDiff{DownOld: 5, DeleteReadyLimit: 2, Update: 5, UpdateBudget: 2},
		},
		{
			"nothing to do", "replicas: 3\nupdateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "3*n", false, true,
			CloneSetDiff{DeleteReadyLimit: 1, UpdateBudget: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := cloneSet(t, c.spec, c.pods)
			set.Gates.CloneSetPartitionRollback = c.rollback
			if c.settled {
				set.Current = set.Update
			}
			got := LimitsOfCloneSet(set.Spec).Diff(set.Count(true))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const (
	surge7       = "replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%, maxSurge: 1}}"
	surge7paused = "replicas: 7\nupdateStrategy: {rollingUpdate: {maxUnavailable: 20%, maxSurge: 1, paused: true}}"
	recreate4    = "replicas: 4\nupdateStrategy: {rollingUpdate: {partition: 2, maxUnavailable: 1}}"
	surge4       = "replicas: 4\nupdateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}"
)

// TestDiff_Holds: whatever the counts, no number is out of bounds and following
// the answer never overshoots.
func TestDiff_Holds(t *testing.T) {
	for replicas := range 5 {
		for partition := range replicas + 1 {
			for old := range 6 {
				for updated := range 6 {
					for surge := range 3 {
						for _, gate := range []bool{false, true} {
							l := Limits{Replicas: replicas, Partition: partition, MaxUnavailable: 1, MaxSurge: surge, ScaleMaxUnavailable: unlimited}
							n := CloneSetCounts{Old: CloneSetSide{Active: old}, New: CloneSetSide{Active: updated}, Rollback: gate}
							holdDiff(t, l, n)
						}
					}
				}
			}
		}
	}
}

func holdDiff(t *testing.T, l Limits, n CloneSetCounts) {
	t.Helper()
	d := l.Diff(n)
	total := n.Old.Active + n.New.Active
	switch {
	case d.Surge < 0 || d.Surge > l.MaxSurge:
		t.Fatalf("%+v %+v: surge %d", l, n, d.Surge)
	case total+d.CreateOld+d.CreateNew > max(total, l.Replicas+l.MaxSurge):
		t.Fatalf("%+v %+v: %+v makes too many", l, n, d)
	case d.CreateOld < 0 || d.CreateNew < 0 || d.ScaleDown < 0 || d.DownOld < 0:
		t.Fatalf("%+v %+v: negative %+v", l, n, d)
	case d.ScaleDown > 0 && total-d.ScaleDown < l.Replicas:
		t.Fatalf("%+v %+v: %+v takes too many", l, n, d)
	case !n.Rollback && d.Update < 0:
		t.Fatalf("%+v %+v: goes back without the gate", l, n)
	case !n.Rollback && d.Update > 0 && n.New.Active+d.Update > l.MaxUpdate():
		t.Fatalf("%+v %+v: updates %d, more than promised", l, n, d.Update)
	case !n.Rollback && d.Update > n.Old.Active:
		t.Fatalf("%+v %+v: updates %d of %d", l, n, d.Update, n.Old.Active)
	}
}
