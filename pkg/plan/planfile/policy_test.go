package planfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

const strategy = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: RolloutStrategy
spec:
  steps:
  - to: 1
    pause: {}
    verify: [{url: "http://web/health", status: 200}]
  - to: 12.5%
    pause: {for: 5m}
  - to: 100%
  verify: [{command: [make, smoke], attempts: 2, every: 10s}]
  pull: never
  parallel: 4
  timeout: 20m
  onFailure: rollback
  driver: auto
  drain: label
  grace: 30s
  hookAnswer: 2m
`

func wanted() plan.Policy {
	return plan.Policy{
		Steps: []plan.PolicyStep{
			{To: plan.Pods(1), Pause: &plan.Pause{}, Verify: []plan.Verify{{URL: "http://web/health", Status: 200}}},
			{To: plan.Amount{Value: 12.5, Percent: true}, Pause: &plan.Pause{For: plan.Duration(5 * time.Minute)}},
			{To: plan.All},
		},
		Verify: []plan.Verify{{Command: []string{"make", "smoke"}, Attempts: 2, Every: plan.Duration(10 * time.Second)}},
		Pull:   plan.PullNever, Parallel: 4, Timeout: plan.Duration(20 * time.Minute), OnFailure: plan.FailRollback, Drain: plan.DrainLabel, Grace: plan.Duration(30 * time.Second), HookAnswer: plan.HookAnswer(2 * time.Minute),
	}
}

func TestReadPolicy_AllFields(t *testing.T) {
	got, err := planfile.ReadPolicy([]byte(strategy))
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(wanted(), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPolicyOf_Annotation(t *testing.T) {
	_, body, _ := strings.Cut(strategy, "spec:\n")
	body = strings.ReplaceAll(body, "\n  ", "\n")[2:]
	for name, c := range map[string]struct {
		text string
		want plan.Policy
		err  string
	}{
		"YAML":       {body, wanted(), ""},
		"JSON":       {`{"steps": [{"to": "50%"}, {"to": 100}]}`, plan.Policy{Steps: []plan.PolicyStep{{To: plan.Amount{Value: 50, Percent: true}}, {To: plan.Pods(100)}}}, ""},
		"empty":      {"{}", plan.Policy{}, ""},
		"misspelt":   {"step: []", plan.Policy{}, "metadata.annotations[kubectl-kruise.dev/rollout]: step: unknown field"},
		"no mapping": {"fast", plan.Policy{}, "metadata.annotations[kubectl-kruise.dev/rollout]: a mapping is wanted"},
	} {
		got, ok, err := planfile.PolicyOf(&cluster.Workload{Annotations: map[string]string{kruise.RolloutAnnotation: c.text}})
		if !ok {
			t.Errorf("%s: not seen", name)
		}
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if diff := gocmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if _, ok, err := planfile.PolicyOf(&cluster.Workload{}); ok || err != nil {
		t.Error("a workload without annotation has a policy", err)
	}
}

func TestReadPolicy_ReportsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		old, new, path string
		line           int
		msg, hint      string
	}{
		"falling":     {"to: 100%", "to: 3%", "spec.steps", 5, `step "3%" is not larger than the one before`, "separate"},
		"no amount":   {"to: 100%", "verify: []", "spec.steps[2].to", 10, "a value is wanted", "write a number"},
		"bad amount":  {"to: 1\n", "to: some\n", "spec.steps[0].to", 5, "", ""},
		"above all":   {"to: 100%", "to: 101%", "spec.steps[2].to", 10, "", ""},
		"pull":        {"pull: never", "pull: soon", "spec.pull", 12, `"soon" is no pull`, "write one of: auto, first, never"},
		"driver":      {"driver: auto", "driver: bus", "spec.driver", 16, `"bus" is no driver`, "write one of: auto, kruise, native, client"},
		"drain":       {"drain: label", "drain: all", "spec.drain", 17, `"all" is no drain`, "write one of: auto, label, gate, none"},
		"failure":     {"onFailure: rollback", "onFailure: x", "spec.onFailure", 15, `"x" is no onFailure`, "write one of: pause, rollback, abort"},
		"no question": {`url: "http://web/health", status`, "status", "spec.steps[0].verify[0]", 7, "0 questions, want one", "set one of"},
		"two at once": {"{command: [make, smoke]", "{url: x, command: [make, smoke]", "spec.verify[0]", 11, "2 questions, want one", "set one of"},
	} {
		_, err := planfile.ReadPolicy([]byte(strings.Replace(strategy, c.old, c.new, 1)))
		var e *tree.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Path != c.path || e.Line != c.line || c.msg != "" && e.Msg != c.msg || !strings.HasPrefix(e.Hint, c.hint) {
			t.Errorf("%s: path %q line %d: %s (%s)", name, e.Path, e.Line, e.Msg, e.Hint)
		}
	}
}
