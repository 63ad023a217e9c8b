package plan_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// hookedSet is a CloneSet of three pods whose template has the label of a hook.
func hookedSet(policy, lifecycle string) string {
	text := strings.NewReplacer("replicas: 10", "replicas: 3", "InPlaceIfPossible", policy, "{labels: {app: web}}", "{labels: {app: web, hold: \"yes\"}}").Replace(clones(""))
	return text + "  lifecycle: " + lifecycle + "\n"
}

const (
	onUpdate  = `{inPlaceUpdate: {labelsHandler: {hold: "yes"}}}`
	onDelete  = `{preDelete: {labelsHandler: {hold: "yes"}}}`
	finalizer = `{inPlaceUpdate: {finalizersHandler: [example.com/hold]}}`
)

// settled is a model in which the workload is complete.
func settled(t *testing.T, text string) (*simulate.World, cluster.Ref) {
	t.Helper()
	w := simulate.New(simulate.DefaultOptions())
	w.AddNode("n1", nil)
	if err := w.Apply(must(yaml.Parse(text)).YNode()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Settle(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	return w, read(t, text).Ref
}

// TestBuild_WarnsOfHooks: a plan assumes that lifecycle hooks are answered, with a warning, and
// completes; otherwise the rollout fails with the hook's name, its pods and since when.
func TestBuild_WarnsOfHooks(t *testing.T) {
	for name, c := range map[string]struct{ policy, lifecycle, hook string }{
		"before an update":   {"InPlaceIfPossible", onUpdate, "inPlaceUpdate"},
		"before a deletion":  {"ReCreate", onDelete, "preDelete"},
		"after an update":    {"InPlaceIfPossible", finalizer, "inPlaceUpdate"},
		"of the driver none": {"InPlaceIfPossible", "{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := hookedSet(c.policy, c.lifecycle)
			w, ref := settled(t, text)
			p := built(t, w, ref, strings.ReplaceAll(text, "web:1", "web:2"), plan.Policy{Pull: plan.PullNever})
			said := strings.Join(p.Warnings, "\n")
			if c.hook == "" {
				if p.HookAnswer != 0 || strings.Contains(said, "lifecycle") {
					t.Errorf("%s assumed without a hook: %s", p.HookAnswer, said)
				}
				return
			}
			if !strings.Contains(said, "lifecycle."+c.hook+" holds 3 pods") || !strings.Contains(said, "5s") {
				t.Errorf("warnings: %s", said)
			}
			s := observe(t, w, ref)
			if err := simulate.Check(p, s, simulate.DefaultOptions()); err != nil {
				t.Error(err)
			}
			unanswered(t, p, s, c.hook)
			told(t, p, s, c.hook)
		})
	}
}

// unanswered has no program answer.
func unanswered(t *testing.T, p plan.Plan, s plan.Snapshot, hook string) {
	t.Helper()
	p.HookAnswer = plan.HookNever
	line, err := simulate.Predict(p, s, simulate.DefaultOptions())
	if err == nil || line.Summary.Outcome != simulate.Failed || !strings.Contains(line.Summary.Reason, "lifecycle."+hook+" holds it") {
		t.Errorf("%v", err)
	}
	if got := line.Summary.Duration; got < 9*time.Minute || got > 12*time.Minute {
		t.Errorf("halted after %s, want about 10m", got)
	}
}

// told runs the plan in a cluster where no program answers: each wait names the hook, the pod and
// since when, and so does why.
func told(t *testing.T, p plan.Plan, s plan.Snapshot, hook string) {
	t.Helper()
	w, err := simulate.FromSnapshot(s, simulate.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	ref := s.Workload.Ref
	why := ""
	d, story := drive(t, w, ref, p, func(d plan.Decision) {
		if d.Verb == plan.Wait && d.Blockers[0].Gate == plan.GateHook {
			now := observe(t, w, ref)
			why = diagnose.Workload(diagnose.Question{Name: "cloneset/web", Plan: p, Snapshot: now, Begun: true, Holder: "x", Now: w.Now()}).Answer
		}
	})
	text := strings.Join(story, "\n")
	if d.Verb != plan.Halt || !strings.Contains(text, "wait: hook web-") || !strings.Contains(text, "lifecycle."+hook+" holds it in ") || !strings.Contains(text, " since 20") {
		t.Errorf("ended with %s\n%s", d.Verb, text)
	}
	if !strings.Contains(why, "lifecycle."+hook+" holds it in ") {
		t.Errorf("why: %s", why)
	}
}

// TestBuild_HooksOfOtherDrivers: a pod that a hook holds for hours, since it is on its way
// out, does not halt a rollout that does not wait for it.
func TestBuild_HooksOfOtherDrivers(t *testing.T) {
	text := hookedSet("InPlaceIfPossible", onDelete)
	w, ref := settled(t, text)
	if err := w.Apply(must(yaml.Parse(strings.Replace(text, "replicas: 3", "replicas: 2", 1))).YNode()); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(w.Now().Add(3 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	s := observe(t, w, ref)
	held := 0
	for _, p := range s.Pods {
		if rules.StateOf(p) == rules.StatePreparingDelete {
			held++
		}
	}
	if held != 1 {
		t.Fatalf("%d pods are held", held)
	}
	p := built(t, w, ref, strings.NewReplacer("web:1", "web:2", "replicas: 3", "replicas: 2").Replace(text), plan.Policy{Pull: plan.PullNever})
	if err := simulate.Check(p, s, simulate.DefaultOptions()); err != nil {
		t.Error(err)
	}
}

func TestParseHookAnswer_ReadsDurations(t *testing.T) {
	for text, want := range map[string]plan.HookAnswer{"": 0, "never": plan.HookNever, "90s": plan.HookAnswer(90 * time.Second)} {
		got, err := plan.ParseHookAnswer(text)
		if err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
		if back, err := plan.ParseHookAnswer(got.String()); err != nil || back != got {
			t.Errorf("%q comes back as %s, %v", text, back, err)
		}
	}
	for _, text := range []string{"soon", "0s", "-1s", "5"} {
		if _, err := plan.ParseHookAnswer(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
