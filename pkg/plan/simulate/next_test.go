package simulate

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestNext_RememberingChangesNoDecision: at every moment of rollouts of every kind, well or badly, a
// decision that goes by what is remembered is the one that reads every pod.
func TestNext_RememberingChangesNoDecision(t *testing.T) {
	for name, text := range midwayKinds() {
		for _, fails := range []bool{false, true} {
			w := worldOf(t, text, fails)
			p, err := planOfImage(w, refOf(documents(t, text)[0]), "web:2", plan.Policy{Pull: plan.PullNever})
			must(t, err)
			compareDecisions(t, name, w, p, fails)
		}
	}
}

// TestNext_RememberingChangesNoDecisionAboutSidecars is the same for SidecarSets, which are given the pods of
// other workloads too.
func TestNext_RememberingChangesNoDecisionAboutSidecars(t *testing.T) {
	const hot = ", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'mesh:empty'}"
	other := strings.NewReplacer("name: web", "name: db", "app: web", "app: db", "web:1.0", "web:0").Replace(webSet)
	for name, text := range map[string]string{
		"one by one": sidecarSet("", ""),
		"by halves":  sidecarSet("maxUnavailable: 50%, scatterStrategy: [{key: rank, value: '*'}]", ""),
		"hot":        sidecarSet("", hot),
		"selected":   sidecarSet("selector: {matchLabels: {rank: '1'}}", ""),
	} {
		text = strings.Replace(text, "replicas: 1", "replicas: 6", 1)
		for _, fails := range []bool{false, true} {
			w := worldOf(t, text+other, fails)
			for i, e := range w.store.all.pods {
				must(t, w.PatchPod(plan.PodRef{Namespace: e.Namespace, Name: e.Name}, cluster.PodChange{Labels: map[string]*string{"rank": new(strconv.Itoa(i % 2))}}))
			}
			desired, err := cluster.ReadWorkload(documents(t, strings.Replace(text, "mesh:1.0", "web:2", 1))[0])
			must(t, err)
			s, err := w.Snapshot(desired.Ref)
			must(t, err)
			p, err := plan.Build(desired, s, plan.Policy{Pull: plan.PullNever})
			must(t, err)
			compareDecisions(t, name, w, p, fails)
		}
	}
}

// worldOf is a world of one node that has settled with objects. Where updates fail, the image web:2
// cannot be pulled.
func worldOf(t *testing.T, text string, fails bool) *World {
	t.Helper()
	o := DefaultOptions()
	if fails {
		o.Agent.Unpullable = []string{"web:2"}
	}
	w := New(o)
	w.AddNode("n1", nil)
	must(t, w.Apply(documents(t, text)...))
	if ok, err := w.Settle(time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return w
}

// compareDecisions carries out a plan, and compares each decision with those that go by what is
// remembered.
func compareDecisions(t *testing.T, name string, w *World, p plan.Plan, fails bool) {
	t.Helper()
	p.HookAnswer = plan.HookAnswer(30 * time.Second)
	ref := p.Target.Ref()
	d, err := newDriver(w, p, RolloutOptions{Promote: new(time.Duration)})
	must(t, err)
	decisions, answers := 0, cluster.Answers{}
	for ; w.recorder.outcome == ""; decisions++ {
		s, err := w.Snapshot(ref)
		must(t, err)
		now := w.clock.now()
		want := plan.Next(p, s, now)
		s.Answers = &answers
		if diff := cmp.Diff(want, plan.Next(p, s, now)); diff != "" {
			t.Fatalf("%s, fails %t, decision %d (-read, +remembered):\n%s", name, fails, decisions, diff)
		}
		must(t, d.step())
	}
	want := map[bool]Outcome{false: Completed, true: Failed}[fails]
	if got := w.recorder; decisions < 5 || got.outcome != want {
		t.Errorf("%s, fails %t: the rollout is %s after %d decisions, want %s: %s", name, fails, got.outcome, decisions, want, got.reason)
	}
}
