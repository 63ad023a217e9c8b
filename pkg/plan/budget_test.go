package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const noneMayGo = `
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 0}
`

// guardedWorld is a model with a CloneSet under a budget that lets no pod go.
func guardedWorld(t *testing.T, on bool) (*simulate.World, plan.Snapshot) {
	t.Helper()
	o := simulate.DefaultOptions()
	o.GuardUpdates, o.Gates.GuardUpdates = on, on
	w := simulate.New(o)
	w.AddNode("n1", nil)
	for _, text := range []string{clones(""), noneMayGo} {
		if err := w.Apply(must(yaml.Parse(text)).YNode()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Settle(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	return w, observe(t, w, read(t, clones("")).Ref)
}

// TestBudget_StopsUpdatesWhereKruiseAsksIt: a budget that allows no disruption stops an update in
// place if the feature gate makes Kruise ask it, and only then; the plan, the wait and why all
// name the budget.
func TestBudget_StopsUpdatesWhereKruiseAsksIt(t *testing.T) {
	next := strings.ReplaceAll(clones(""), "web:1", "web:2")
	for name, c := range map[string]struct {
		on       bool
		unread   string
		said     string
		finishes bool
		cause    string
		stuck    bool
	}{
		"off":     {false, "", "Kruise does not ask it before an update in place: PodUnavailableBudgetUpdateGate is off", true, "", false},
		"on":      {true, "", "PodUnavailableBudget web never allows a pod to go", false, "web", true},
		"unknown": {false, "forbidden", "Kruise's feature gates cannot be read (forbidden): the plan assumes that PodUnavailableBudgetUpdateGate is off", true, "if PodUnavailableBudgetUpdateGate is on: Kruise's feature gates cannot be read", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := guardedWorld(t, c.on)
			s.GatesUnread = c.unread
			p, err := plan.Build(read(t, next), s, plan.Policy{Pull: plan.PullNever})
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(p.Warnings, "\n"); !strings.Contains(said, c.said) {
				t.Errorf("warnings: %s", said)
			}
			o := simulate.DefaultOptions()
			o.Gates, o.GuardUpdates = s.Gates, c.on
			if err := simulate.Check(p, s, o); (err == nil) != c.finishes || err != nil && !strings.Contains(err.Error(), "budget") {
				t.Error(err)
			}
			waits(t, w, p, c.unread, c.cause, c.stuck)
		})
	}
}

// waits looks at the workload right after its template was written.
func waits(t *testing.T, w *simulate.World, p plan.Plan, unread, cause string, stuck bool) {
	t.Helper()
	ref := p.Target.Ref()
	if err := w.Do(t.Context(), ref, plan.Action{Step: p.Steps[0].Name, Patch: &p.Steps[0].Patches[0]}); err != nil {
		t.Fatal(err)
	}
	s := observe(t, w, ref)
	s.GatesUnread, s.Progress = unread, plan.Progress{Started: w.Now()}
	d := plan.Next(p, s, w.Now())
	if d.Verb != plan.Wait || (d.Blockers[0].Gate == plan.GateBudget) != stuck {
		t.Errorf("%s: %v", d.Verb, d.Blockers)
	}
	q := diagnose.Question{Name: "cloneset/web", Snapshot: s, Now: w.Now()}
	q.ForSpec()
	found := false
	for _, c := range diagnose.Workload(q).Causes {
		if c.Gate == plan.GateBudget {
			found = true
			if cause == "" || !strings.Contains(c.Why, cause) || c.Blocked != stuck || strings.Contains(c.Hint, "until more of the pods") != (!stuck && unread == "") {
				t.Errorf("cause %+v", c)
			}
		}
	}
	if found != (cause != "") {
		t.Errorf("a budget is blamed: %t", found)
	}
}

// TestBudget_CountedBySimulatorEqualsCount: what the simulator has counted of a budget's pods is
// what counting them finds, at every moment of an update.
func TestBudget_CountedBySimulatorEqualsCount(t *testing.T) {
	w, s := guardedWorld(t, false)
	p, err := plan.Build(read(t, strings.ReplaceAll(clones(""), "web:1", "web:2")), s, plan.Policy{Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	ref := p.Target.Ref()
	if err := w.Do(t.Context(), ref, plan.Action{Step: p.Steps[0].Name, Patch: &p.Steps[0].Patches[0]}); err != nil {
		t.Fatal(err)
	}
	fewer := false
	for range 30 {
		if err := w.Run(w.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		for _, b := range observe(t, w, ref).Budgets {
			counted := *b
			counted.Steadies = nil
			if b.Steadies == nil || b.Counts() != counted.Counts() {
				t.Fatalf("at %s: %+v, counted %+v", w.Now(), b.Counts(), counted.Counts())
			}
			fewer = fewer || b.Counts().Current < len(b.Pods)
		}
	}
	if !fewer {
		t.Error("no pod was ever unavailable: the comparison says little")
	}
}

// TestBlockedByBudget_EqualsPreview: over random snapshots, the answer that is asked for at
// every turn is the one of the whole outlook.
func TestBlockedByBudget_EqualsPreview(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 1000
	}
	blocked, free := map[string]int{}, map[string]int{}
	for number := range n {
		chance := rand.New(rand.NewPCG(uint64(number), 3))
		s := budgetedSnapshot(t, chance)
		kind := s.Workload.Kind
		var want []plan.Blocker
		wantNever := false
		o, ok := plan.PreviewOf(s, noon)
		if !ok {
			t.Fatalf("%d: no outlook of a %s", number, kind)
		}
		for _, p := range o.Pods {
			if why, ok := o.Budget(p); !ok {
				want, wantNever = []plan.Blocker{{Gate: plan.GateBudget, Pod: p.Name, Why: why}}, o.BudgetNever(p)
				break
			}
			free[kind]++
		}
		blocked[kind] += len(want)
		got, never := plan.BlockedByBudget(s, noon)
		if diff := gocmp.Diff(want, got); diff != "" || never != wantNever {
			t.Fatalf("%d: %s, never %t, not %t: -outlook +quick\n%s", number, kind, never, wantNever, diff)
		}
	}
	for _, kind := range []string{"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet"} {
		if blocked[kind] < n/200 || free[kind] < n/200 {
			t.Errorf("%s: %d snapshots are blocked, %d pods are free: the comparison says little", kind, blocked[kind], free[kind])
		}
	}
}

// budgetedSnapshot is a workload of Kruise in the middle of an update, with budgets.
func budgetedSnapshot(t *testing.T, chance *rand.Rand) plan.Snapshot {
	t.Helper()
	pick := func(words ...string) string { return words[chance.IntN(len(words))] }
	n := chance.IntN(12)
	rolling := "maxUnavailable: " + pick("1", "2", "\"30%\"", "0")
	text := map[string]string{
		"clones":   manifest(beta, "CloneSet", plain+fmt.Sprintf("  replicas: %d\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: %s, paused: %s, partition: %s, maxSurge: %s, %s%s}}\n", n, pick("InPlaceIfPossible", "ReCreate"), pick("false", "false", "true"), pick("0", "2", `"50%"`), pick("0", "1"), rolling, pick("", ", scatterStrategy: [{key: shard, value: a}]"))),
		"stateful": manifest(beta, "StatefulSet", plain+fmt.Sprintf("  replicas: %d\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: %s, %s%s}}\n", n, pick("InPlaceIfPossible", "ReCreate"), rolling, pick("", ", unorderedUpdate: {}"))),
		"daemons":  manifest(beta, "DaemonSet", plain+"  updateStrategy: {rollingUpdate: {"+strings.Replace(rolling, ": 0", ": 3", 1)+"}}\n"),
		"sidecars": strings.Replace(mesh, "spec:", "spec:\n  updateStrategy: {"+rolling+"}", 1),
	}[pick("clones", "stateful", "daemons", "sidecars")]
	s := plan.Snapshot{Workload: read(t, text), Pods: pods(n, "old"), Gates: cluster.DefaultGates(), GatesUnread: pick("", "", "forbidden")}
	s.Gates.GuardUpdates = chance.IntN(2) == 0
	if chance.IntN(4) == 0 {
		s.Pods = oddPods(chance)
	}
	s.Workload.Annotations = map[string]string{kruise.SidecarSetHashAnnotation: "new", kruise.SidecarSetHashWithoutImageAnnotation: "w"}
	for i, p := range s.Pods {
		if chance.IntN(3) == 0 {
			p.Labels["controller-revision-hash"] = "web-new"
		}
		if chance.IntN(4) == 0 {
			p.Conditions = nil
		}
		if s.Workload.Kind == kruise.KindStatefulSet {
			p.Name = fmt.Sprint("web-", i)
		}
		if s.Workload.Kind == kruise.KindSidecarSet {
			s.Pods[i] = meshedPod("shop", i, pick("old", "old", "new"))
		}
	}
	s.Revisions = []cluster.Revision{{Name: "web-old", Number: 1, Template: map[string]any{"spec": map[string]any{}}}, {Name: "web-new", Number: 2, Template: s.Workload.Template}}
	for i := range 1 + chance.IntN(2) {
		limit := intstr.Parse(pick("0", "1", "2", "10", "50%"))
		b := &rules.Budget{Name: fmt.Sprint("budget-", i), Expected: len(s.Pods), Spec: &kruise.PodUnavailableBudgetSpec{MaxUnavailable: &limit}, Rendered: chance.IntN(5) == 0}
		if chance.IntN(4) == 0 {
			b.Spec.MaxUnavailable, b.Spec.MinAvailable = nil, &limit
		}
		if chance.IntN(4) == 0 {
			b.Spec.ProtectOperations = []kruise.PubOperation{kruise.PubDeleteOperation}
		}
		for _, p := range s.Pods {
			if chance.IntN(4) > 0 {
				b.Pods = append(b.Pods, p)
			}
			if chance.IntN(8) == 0 {
				b.Disrupted = append(b.Disrupted, p.Name)
			}
		}
		if chance.IntN(50) == 0 {
			b.Unavailable = make([]string, 2001)
		}
		s.Budgets = append(s.Budgets, b)
	}
	return s
}

// TestClient_EvictionAsksBudgets: where pods are recreated both kinds of budget count.
func TestClient_EvictionAsksBudgets(t *testing.T) {
	next := strings.Replace(strings.ReplaceAll(set, "web:1", newer), `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1)
	for name, c := range map[string]struct {
		spoil func(*plan.Snapshot)
		want  string
	}{
		"no budget":  {func(*plan.Snapshot) {}, "act evict web-00003"},
		"pub":        {func(s *plan.Snapshot) { budget(s, 0) }, "wait budget web-00003: budget web: 4 pods are available, 4 are wanted: web-00003 waits"},
		"disruption": {func(s *plan.Snapshot) { disruption(s, 0) }, "wait budget web-00003: budget pdb: 4 pods are healthy, 4 are wanted: web-00003 waits"},
		"enough":     {func(s *plan.Snapshot) { disruption(s, 50); budget(s, 50) }, "act evict web-00003"},
		"others'":    {func(s *plan.Snapshot) { disruption(s, 0); s.Disruptions[0].Pods = s.Disruptions[0].Pods[:3] }, "act evict web-00003"},
	} {
		p, s := written(t, next)
		c.spoil(&s)
		d := decide(t, p, s, noon)
		if got := string(d.Verb) + " " + d.Reason; got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestPreview_BudgetNeverAllowsAPod: a budget of either kind that wants every pod never lets one go, and one
// that has room does some day.
func TestPreview_BudgetNeverAllowsAPod(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*plan.Snapshot)
		never bool
	}{
		"no budget":           {func(*plan.Snapshot) {}, false},
		"pub of 0":            {func(s *plan.Snapshot) { budget(s, 0) }, true},
		"pub with room":       {func(s *plan.Snapshot) { budget(s, 50) }, false},
		"disruption of 0":     {func(s *plan.Snapshot) { disruption(s, 0) }, true},
		"disruption and room": {func(s *plan.Snapshot) { disruption(s, 50) }, false},
		"of others":           {func(s *plan.Snapshot) { disruption(s, 0); s.Disruptions[0].Pods = s.Disruptions[0].Pods[:3] }, false},
	} {
		s := snapshotOf(t, set)
		s.Revisions = []cluster.Revision{{Name: "web-x", Template: s.Workload.Template}}
		s.Workload = read(t, strings.Replace(strings.ReplaceAll(set, "web:1", newer), `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1))
		for _, pod := range s.Pods {
			pod.Labels["controller-revision-hash"] = "x"
		}
		c.spoil(&s)
		o, ok := plan.PreviewOf(s, noon)
		if !ok {
			t.Fatal("no outlook")
		}
		o.Driver = plan.DriverClient
		if got := o.BudgetNever(s.Pods[3]); got != c.never {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestNext_LimitIsNotReportedAsBudget: without any budget, what holds the next pod is maxUnavailable.
func TestNext_LimitIsNotReportedAsBudget(t *testing.T) {
	next := strings.ReplaceAll(set, "web:1", newer)
	p, s := written(t, next)
	first := s.Pods[0].With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo("Ready", "False", "Gone", "")}}, noon)
	first.Labels = map[string]string{"app": "web", kruise.InServiceLabel: "true", "controller-revision-hash": p.Change.ToHash}
	s.Pods[0] = first
	s.Progress.Step = len(p.Steps) - 1
	d := decide(t, p, s, noon)
	want := plan.Blocker{Gate: plan.GateMaxUnavailable, Why: "1 pod of the target revision is not available yet, at most 1: web-00003 waits"}
	if !slices.Contains(d.Blockers, want) || slices.ContainsFunc(d.Blockers, func(b plan.Blocker) bool { return b.Gate == plan.GateBudget }) {
		t.Errorf("%s: %v, want %v", d.Verb, d.Blockers, want)
	}
}

func disruption(s *plan.Snapshot, most int) {
	v := percent(most)
	s.Disruptions = []*rules.DisruptionBudget{{Name: "pdb", Spec: &policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &v}, Expected: len(s.Pods), Pods: s.Pods}}
}
