package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

var web = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

func answered(ref cluster.Ref, e rules.Eligibility, others ...rules.Eligibility) InPlace {
	x := newInPlace(ref, e)
	for _, o := range others {
		x.Add(o)
	}
	return x
}

func image(old, updated string) rules.FieldChange {
	return rules.FieldChange{Path: "spec.containers[0].image", Old: old, New: updated, Effect: rules.EffectImage, Restarts: []string{"main"}, Why: "an image"}
}

func TestInPlace_Text(t *testing.T) {
	env := rules.FieldChange{Path: "spec.containers[0].env", New: []any{map[string]any{"name": "A"}}, Effect: rules.EffectRecreate, Why: "no"}
	label := rules.FieldChange{Path: "metadata.labels.a", Old: "1", Effect: rules.EffectMetadata}
	for _, c := range []struct {
		name string
		x    InPlace
		want string
	}{
		{
			"in place",
			answered(web, rules.Eligibility{Mode: rules.ModeInPlace, Policy: rules.PolicyInPlaceOnly, Why: "every field can", Fields: []rules.FieldChange{image("web:1", "web:2")}, Restarts: []string{"main"}},
				rules.Eligibility{Mode: rules.ModeRecreate, Policy: rules.PolicyRecreate}, rules.Eligibility{Mode: rules.ModeInPlace, Policy: rules.PolicyInPlaceOnly}),
			`cloneset/web: in place, main restarts inside the pod
  every field can

fields
  spec.containers[0].image  can change in place, restarts main
    - web:1
    + web:2

under each policy
  ReCreate           recreate
  InPlaceOnly        in place  (in force)
`,
		},
		{
			"recreate: restarts are no topic",
			answered(web, rules.Eligibility{Mode: rules.ModeRecreate, Policy: rules.PolicyRecreate, Why: "the policy", Fields: []rules.FieldChange{env, image("web:1", "web:2")}, Restarts: []string{"main"}}),
			`cloneset/web: recreate: each pod is deleted, and its controller creates a new one
  the policy

fields
  spec.containers[0].env  needs a new pod
    + [{"name":"A"}]
  spec.containers[0].image  can change in place
    - web:1
    + web:2
`,
		},
		{
			"metadata only: a label goes",
			answered(web, rules.Eligibility{Mode: rules.ModeMetadataOnly, Why: "only labels", Fields: []rules.FieldChange{label}}),
			"cloneset/web: metadata only, nothing restarts\n  only labels\n\nfields\n  metadata.labels.a  merged into the pod\n    - 1\n",
		},
		{"unchanged", answered(web, rules.Eligibility{Mode: rules.ModeUnchanged, Why: "agree"}), "cloneset/web: unchanged, the pods stay as they are\n"},
		{"not allowed", answered(web, rules.Eligibility{Mode: rules.ModeNotAllowed, Why: "no"}), "cloneset/web: not allowed, running pods stay as they are\n  no\n"},
		{"two restart", answered(web, rules.Eligibility{Mode: rules.ModeInPlace, Why: "yes", Restarts: []string{"a", "b"}}), "cloneset/web: in place, a, b restart inside the pod\n  yes\n"},
		{"none restarts", answered(web, rules.Eligibility{Mode: rules.ModeInPlace, Why: "yes"}), "cloneset/web: in place, nothing restarts\n  yes\n"},
	} {
		var b bytes.Buffer
		if err := c.x.Text(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestInPlace_PrintsRemarks(t *testing.T) {
	x := answered(web, rules.Eligibility{Mode: rules.ModeUnchanged})
	x.Remarks = []string{"one", "two"}
	var b bytes.Buffer
	if err := x.Text(&b, Style{}); err != nil || !strings.HasSuffix(b.String(), "are\n\nnote: one\nnote: two\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestInPlace_StandardMeansRecreate checks the word of Kruise's DaemonSet for recreation.
func TestInPlace_StandardMeansRecreate(t *testing.T) {
	for _, c := range []struct {
		ref  cluster.Ref
		want string
	}{{cluster.Ref{Group: "apps.kruise.io", Kind: "DaemonSet"}, "Standard"}, {cluster.Ref{Group: "apps", Kind: "DaemonSet"}, "ReCreate"}, {web, "ReCreate"}} {
		if got := newInPlace(c.ref, rules.Eligibility{Policy: rules.PolicyRecreate}).Policy; got != c.want {
			t.Errorf("%v: %s, want %s", c.ref, got, c.want)
		}
	}
}

// TestInPlace_ShortensLongValues: long values and long lists are shortened, and -v shows
// them whole.
func TestInPlace_ShortensLongValues(t *testing.T) {
	long := strings.Repeat("x", 300)
	var list []rules.FieldChange
	for i := range 30 {
		list = append(list, rules.FieldChange{Path: fmt.Sprintf("metadata.labels.l%02d", i), Old: "a\nb", New: long, Effect: rules.EffectMetadata})
	}
	x := answered(web, rules.Eligibility{Mode: rules.ModeMetadataOnly, Fields: list})
	var short, full, narrow bytes.Buffer
	_ = x.Text(&short, Style{})
	_ = x.Text(&full, Style{Full: true})
	_ = x.Text(&narrow, Style{Width: 40})
	if !strings.Contains(short.String(), "and 10 more fields; -v shows them") || strings.Contains(short.String(), "l20") || strings.Contains(short.String(), long) {
		t.Errorf("short:\n%s", short.String())
	}
	if !strings.Contains(full.String(), "l29") || !strings.Contains(full.String(), long) {
		t.Error("-v shortens")
	}
	if !strings.Contains(full.String(), `    - "a\nb"`) {
		t.Error("a value of two lines tears the list apart")
	}
	for line := range strings.Lines(narrow.String()) {
		if strings.Contains(line, "xxx") && len([]rune(strings.TrimSuffix(line, "\n"))) != 40 {
			t.Errorf("not 40 columns: %q", line)
		}
	}
}

func TestInPlace_JSONAndYAML(t *testing.T) {
	x := answered(web, rules.Eligibility{Mode: rules.ModeRecreate, Policy: rules.PolicyRecreate, Why: "a < b", Restarts: []string{"main"}},
		rules.Eligibility{Mode: rules.ModeRecreate, Policy: rules.PolicyRecreate, Why: "a < b"})
	want := map[string]any{
		"apiVersion": "kubectl-kruise.dev/v1alpha1", "kind": "InPlaceExplanation",
		"object": map[string]any{"group": "apps.kruise.io", "kind": "CloneSet", "namespace": "shop", "name": "web"},
		"mode":   "recreate", "policy": "ReCreate", "why": "a < b", "restarts": []any{}, "fields": []any{},
		"policies": []any{map[string]any{"policy": "ReCreate", "inForce": true, "mode": "recreate", "why": "a < b"}},
	}
	var j, y bytes.Buffer
	if err := JSON(&j, x); err != nil || !strings.Contains(j.String(), "a < b") {
		t.Errorf("%s %v", j.String(), err)
	}
	if err := YAML(&y, x); err != nil {
		t.Error(err)
	}
	var fromJSON, fromYAML any
	if err := json.Unmarshal(j.Bytes(), &fromJSON); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(y.Bytes(), &fromYAML); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(any(want), fromJSON); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(any(want), fromYAML); diff != "" {
		t.Error(diff)
	}
}

// TestInPlace_ColourOnlyOnRequest: the answer is painted, and without colour nothing is.
func TestInPlace_ColourOnlyOnRequest(t *testing.T) {
	x := answered(web, rules.Eligibility{Mode: rules.ModeNotAllowed, Fields: []rules.FieldChange{image("a", "b")}})
	var b bytes.Buffer
	if err := x.Text(text.Writer(&b), Style{Color: true}); err != nil || !strings.Contains(b.String(), "\x1b[31mnot allowed") || !strings.Contains(b.String(), "\x1b[32m    + b\x1b[0m") {
		t.Errorf("%q %v", b.String(), err)
	}
}

func TestExplained_CountsPodsThatSurgePodsReplace(t *testing.T) {
	state := func(image string, surge int) *cluster.Workload {
		labels := map[string]any{"app": "web"}
		w, err := cluster.ReadWorkload(tree.FromValue(map[string]any{
			"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": map[string]any{
				"replicas": 5, "selector": map[string]any{"matchLabels": labels},
				"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"podUpdatePolicy": "InPlaceIfPossible", "maxSurge": surge}},
				"template":       map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}},
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, c := range []struct {
		surge int
		want  string
	}{
		{0, "cloneset/web: in place, main restarts inside the pod\n"},
		{3, "cloneset/web: 3 of 5 pods are recreated; others: in place, main restarts inside the pod\n"},
		{5, "cloneset/web: 5 of 5 pods are recreated\n"},
	} {
		var out bytes.Buffer
		if err := Explained(state("web:1", c.surge), state("web:2", c.surge), cluster.DefaultGates()).Text(&out, Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), c.want) || strings.Contains(out.String(), "with maxSurge") != (c.surge > 0) {
			t.Errorf("maxSurge %d:\n%s", c.surge, out.String())
		}
	}
}

// TestExplained_DoesNotCountVeryManyPods: the answer about the template is there at once.
func TestExplained_DoesNotCountVeryManyPods(t *testing.T) {
	of := func(image string) *cluster.Workload {
		w, err := cluster.ReadWorkload(tree.FromValue(map[string]any{
			"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": map[string]any{
				"replicas": 100_000, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
				"template":       map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}},
				"updateStrategy": map[string]any{"rollingUpdate": map[string]any{"maxUnavailable": 1}},
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	x := Explained(of("web:1"), of("web:2"), cluster.DefaultGates())
	if x.Total != -1 || !strings.Contains(strings.Join(x.Remarks, "\n"), "too many pods") || x.Mode == "" {
		t.Errorf("%+v", x)
	}
}

// TestPlanPage_CountsRecreatedPods: the verdict of a plan is that of its steps, and a pod of a
// DaemonSet stays on its node.
func TestPlanPage_CountsRecreatedPods(t *testing.T) {
	pods := func(modes ...rules.UpdateMode) (out []plan.PodStep) {
		for _, m := range modes {
			out = append(out, plan.PodStep{Name: "web", Mode: m})
		}
		return out
	}
	const moved, stays = "may land on another node", "stays on its node"
	for _, c := range []struct {
		kind          string
		mode          rules.UpdateMode
		pods          []plan.PodStep
		verdict, risk string
	}{
		{"CloneSet", rules.ModeInPlace, pods(rules.ModeInPlace, rules.ModeInPlace), "in place, main restarts inside the pod", "the pod keeps its name"},
		{"CloneSet", rules.ModeInPlace, pods(rules.ModeInPlace, rules.ModeRecreate), "in place, main restarts inside the pod, in 1 of 2 pods; 1 is recreated", moved},
		{"CloneSet", rules.ModeInPlace, pods(rules.ModeRecreate), "recreate: 1 of 1 pod, although the change is possible in place", moved},
		{"CloneSet", rules.ModeRecreate, pods(rules.ModeRecreate), "recreate: each pod is deleted, and its controller creates a new one", moved},
		{"DaemonSet", rules.ModeRecreate, pods(rules.ModeRecreate), "recreate: each pod is deleted, and its controller creates a new one", stays},
	} {
		p := plan.Plan{Target: plan.Target{Kind: c.kind}, Change: plan.Change{FromHash: "a", ToHash: "b", Mode: c.mode, Restarts: []string{"main"}}, Steps: []plan.Step{{Kind: plan.StepUpdate, Pods: c.pods}}}
		page := NewPlanPage(p, nil)
		if risks := strings.Join(page.Watch, "\n"); page.Verdict != c.verdict || !strings.Contains(risks, c.risk) || c.risk == stays && strings.Contains(risks, moved) {
			t.Errorf("%s %s: %q\n%s", c.kind, c.mode, page.Verdict, risks)
		}
	}
}
