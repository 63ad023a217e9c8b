package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// bedOfGroup is a cluster at rest with CloneSets of four pods, each with a plan for a new image
// that may take one of them, and a group of them all.
func bedOfGroup(t *testing.T, n int, more string, steps ...plan.PolicyStep) (plan.Rollout, []GroupMember) {
	t.Helper()
	o := DefaultOptions()
	o.Seed = 7
	w := New(o)
	for i := range 4 {
		w.AddNode(fmt.Sprint("n", i), nil)
	}
	text := func(i int, image string) string {
		return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web-%d, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web-%d}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web-%d, team: shop}}
    spec: {containers: [{name: main, image: %q}]}
`, i, i, i, image)
	}
	for i := range n {
		must(t, w.Apply(documents(t, text(i, "web:1"))...))
	}
	if more != "" {
		must(t, w.Apply(documents(t, more)...))
	}
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var g plan.Rollout
	var members []GroupMember
	for i := range n {
		ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: fmt.Sprint("web-", i)}
		s, err := w.Snapshot(ref)
		must(t, err)
		desired, err := cluster.ReadWorkload(documents(t, text(i, "web:2"))[0])
		must(t, err)
		p, err := plan.Build(desired, s, plan.Policy{Driver: plan.DriverKruise, Pull: plan.PullNever, Steps: steps})
		must(t, err)
		g.Members = append(g.Members, plan.Member{Ref: ref, Plan: p})
		members = append(members, GroupMember{Snapshot: s})
	}
	return g, members
}

// TestGroup: waves follow each other, no more are in progress than may be, and the peak is
// that of all pods.
func TestGroup(t *testing.T) {
	g, members := bedOfGroup(t, 6, "")
	for i := range g.Members {
		g.Members[i].Wave = i / 3
	}
	g.Bounds = plan.Bounds{Parallel: 2}
	line, err := Group(g, members, DefaultOptions())
	must(t, err)
	if line.Phase != plan.PhaseCompleted || line.MostActive != 2 || line.MostUnavailable != 2 {
		t.Errorf("%s: %d in progress, %d pods unavailable", line.Phase, line.MostActive, line.MostUnavailable)
	}
	for i := range 3 {
		for j := 3; j < 6; j++ {
			if line.Runs[j].Begin < line.Runs[i].End {
				t.Errorf("%d begins at %s, before %d ends at %s", j, line.Runs[j].Begin, i, line.Runs[i].End)
			}
		}
	}
	if one := line.Peaks[0]; one.String() != "namespace/shop" || one.Unavailable != 2 || one.Breaks() {
		t.Errorf("%+v", line.Peaks)
	}
}

const sharedBudget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all, namespace: shop}
spec: {maxUnavailable: 2, selector: {matchLabels: {team: shop}}}
`

// TestGroup_SharedBudget: members that share a budget are ordered so that it is kept, and without
// the order the peak shows that it is exceeded.
func TestGroup_SharedBudget(t *testing.T) {
	g, members := bedOfGroup(t, 4, sharedBudget)
	line, err := Group(g, members, DefaultOptions())
	must(t, err)
	if p := line.Peaks[0]; p.String() != "poddisruptionbudget/shop/all" || p.Unavailable != 4 || p.Allowed != 2 || !p.Breaks() {
		t.Errorf("not ordered: %+v", p)
	}
	var known []plan.Snapshot
	for _, m := range members {
		known = append(known, m.Snapshot)
	}
	g.Budgets = plan.SharedBudgets(g.Members, known)
	if len(g.Budgets) != 1 || g.Budgets[0].Allowed != 2 || len(g.Budgets[0].Takes) != 4 {
		t.Fatalf("%+v", g.Budgets)
	}
	line, err = Group(g, members, DefaultOptions())
	must(t, err)
	if p := line.Peaks[0]; p.Unavailable != 2 || p.Breaks() || line.MostActive != 2 {
		t.Errorf("ordered: %+v, %d in progress", p, line.MostActive)
	}
}

// TestGroup_PauseOfAnHour: a member that waits for a time is not blocked, however long that is.
func TestGroup_PauseOfAnHour(t *testing.T) {
	g, members := bedOfGroup(t, 2, "", plan.PolicyStep{To: plan.Amount{Value: 1}, Pause: &plan.Pause{For: plan.Duration(time.Hour)}}, plan.PolicyStep{To: plan.All})
	g.Bounds = plan.Bounds{Parallel: 1}
	line, err := Group(g, members, DefaultOptions())
	must(t, err)
	if line.Phase != plan.PhaseCompleted || line.Duration < 2*time.Hour || line.Runs[1].Begin < line.Runs[0].End {
		t.Errorf("%s after %s: %v", line.Phase, line.Duration, line.Runs)
	}
}

// TestGroup_OfOneIsARollout: one member of a group takes as long as by itself.
func TestGroup_OfOneIsARollout(t *testing.T) {
	g, members := bedOfGroup(t, 1, "")
	alone, err := Predict(g.Members[0].Plan, members[0].Snapshot, DefaultOptions())
	must(t, err)
	line, err := Group(g, members, DefaultOptions())
	must(t, err)
	if took := line.Runs[0].End - line.Runs[0].Begin; took != alone.Steps[len(alone.Steps)-1].End || line.MostUnavailable != alone.Summary.MostDown {
		t.Errorf("%s with %d unavailable, alone %s with %d", took, line.MostUnavailable, alone.Steps[len(alone.Steps)-1].End, alone.Summary.MostDown)
	}
}

// TestGroup_FailedMemberStopsLaterWaves: a member whose pods never become ready fails, and what would start after
// it does not.
func TestGroup_FailedMemberStopsLaterWaves(t *testing.T) {
	g, members := bedOfGroup(t, 3, "")
	g.Members[1].Wave, g.Members[2].Wave = 1, 2
	o := DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) Override {
		return Override{Unready: strings.HasPrefix(p.Name, "web-1-") && p.Containers[0].Image == "web:2"}
	}
	line, err := Group(g, members, o)
	if err == nil || line.Phase != plan.PhaseFailed || !strings.Contains(err.Error(), "cloneset/web-1") {
		t.Errorf("%s, %v", line.Phase, err)
	}
	if line.Runs[0].End < 0 || line.Runs[1].Begin < 0 || line.Runs[2].Begin >= 0 {
		t.Errorf("%v", line.Runs)
	}
}

// TestGroup_OfTwoHundredWithFailures: a group of two hundred, of which one in twenty fails.
func TestGroup_OfTwoHundredWithFailures(t *testing.T) {
	g, members := bedOfGroup(t, 200, "")
	for i := range g.Members {
		g.Members[i].Wave = i / 50
	}
	g.Bounds = plan.Bounds{Parallel: 20, MaxUnavailable: 25, MaxFailures: 10}
	fails := func(name string) bool {
		var i int
		_, err := fmt.Sscanf(name, "web-%d-", &i)
		return err == nil && i%20 == 3
	}
	o := DefaultOptions()
	o.Agent.Override = func(p *cluster.Pod) Override {
		return Override{Unready: p.Containers[0].Image == "web:2" && fails(p.Name)}
	}
	line, err := Group(g, members, o)
	if err == nil || !strings.Contains(line.Reason, "10 rollouts failed") {
		t.Errorf("%s, %v", line.Reason, err)
	}
	if line.MostActive > 20 || line.MostUnavailable > 25 {
		t.Errorf("%d in progress, %d pods unavailable", line.MostActive, line.MostUnavailable)
	}
	for i, r := range line.Runs {
		if r.End < 0 {
			t.Errorf("member %d did not end: %+v", i, r)
		}
	}
	t.Logf("%s of model time", line.Duration.Round(time.Second))
}
