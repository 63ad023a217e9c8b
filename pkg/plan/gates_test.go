package plan_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
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
	o := simulate.Usual()
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

// TestBudgetsOfUpdates: a budget that lets no pod go stops an update in place where the
// gate has Kruise ask it, and only there; the plan, the wait and why all say which.
func TestBudgetsOfUpdates(t *testing.T) {
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
		"unknown": {false, "forbidden", "Kruise's feature gates cannot be read (forbidden): the plan takes PodUnavailableBudgetUpdateGate to be off", true, "if PodUnavailableBudgetUpdateGate is on: Kruise's feature gates cannot be read", false},
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
			o := simulate.Usual()
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
	q.Stand()
	found := false
	for _, c := range diagnose.Workload(q).Causes {
		if c.Gate == plan.GateBudget {
			found = true
			if cause == "" || !strings.Contains(c.Why, cause) || c.Stuck != stuck || strings.Contains(c.Hint, "until more of the pods") != (!stuck && unread == "") {
				t.Errorf("cause %+v", c)
			}
		}
	}
	if found != (cause != "") {
		t.Errorf("a budget is blamed: %t", found)
	}
}
