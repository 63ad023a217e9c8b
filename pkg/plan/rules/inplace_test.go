package rules

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

func template(t *testing.T, text string) map[string]any {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Value(n.YNode()).(map[string]any)
}

const baseTemplate = `
metadata:
  creationTimestamp: null
  labels: {app: web, tier: front}
  annotations: {team: a, a.b/c: x}
spec:
  initContainers: [{name: prepare, image: "init:1"}]
  containers:
  - name: main
    image: web:1
    env:
    - {name: TEAM, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['team']"}}}
    - {name: DOTS, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['a.b/c']"}}}
    - {name: LEVEL, value: info}
    resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}
    resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]
  - name: side
    image: log:1
  terminationGracePeriodSeconds: 30
`

// TestEligible: the rows of docs/kruise/workloads.md#when-a-change-is-possible-in-place, each as a
// replacement in one template.
func TestEligible(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		vertical       bool
		mode           UpdateMode
		fields         string
		restarts       string
	}{
		{"nothing", "", "", false, ModeUnchanged, "", ""},
		{"image", "web:1", "web:2", false, ModeInPlace, "spec.containers[0].image image", "main"},
		{"init image", "init:1", "init:2", false, ModeRecreate, "spec.initContainers[0].image recreate", ""},
		{"label", "tier: front", "tier: back", false, ModeMetadataOnly, "metadata.labels.tier metadata", ""},
		{"label added", "tier: front", "tier: front, x: y", false, ModeMetadataOnly, "metadata.labels.x metadata", ""},
		{"label removed", ", tier: front", "", false, ModeMetadataOnly, "metadata.labels.tier metadata", ""},
		{"annotation that an env reads", "team: a", "team: b", false, ModeInPlace, "metadata.annotations.team envFromMetadata", "main"},
		{"with dots", "a.b/c: x", "a.b/c: y", false, ModeInPlace, `metadata.annotations["a.b/c"] envFromMetadata`, "main"},
		{"annotation that an env reads, removed", "team: a, ", "", false, ModeMetadataOnly, "metadata.annotations.team metadata", ""},
		{"all annotations gone", "  annotations: {team: a, a.b/c: x}\n", "", false, ModeMetadataOnly, `metadata.annotations["a.b/c"] metadata, metadata.annotations.team metadata`, ""},
		{"restart annotation", "{team: a", "{restartedAt: now, team: a", false, ModeMetadataOnly, "metadata.annotations.restartedAt metadata", ""},
		{"env", "value: info", "value: debug", false, ModeRecreate, "spec.containers[0].env[2].value recreate", ""},
		{"env added", "- {name: LEVEL, value: info}", "- {name: LEVEL, value: info}\n    - {name: MORE, value: x}", false, ModeRecreate, "spec.containers[0].env[3] recreate", ""},
		{"cpu without the gate", "cpu: 100m", "cpu: 200m", false, ModeRecreate, "spec.containers[0].resources.requests.cpu recreate", ""},
		{"cpu with the gate", "cpu: 100m", "cpu: 200m", true, ModeInPlace, "spec.containers[0].resources.requests.cpu resources", ""},
		{"memory with resizePolicy", "memory: 1Gi", "memory: 2Gi", true, ModeInPlace, "spec.containers[0].resources.limits.memory resources", "main"},
		{"cpu limit added", "limits: {", "limits: {cpu: 1, ", true, ModeRecreate, "spec.containers[0].resources.limits.cpu recreate", ""},
		{"request removed", "requests: {cpu: 100m}", "requests: {}", true, ModeRecreate, "spec.containers[0].resources.requests.cpu recreate", ""},
		{"other resource", "cpu: 100m", "cpu: 100m, x.y/gpu: 1", true, ModeRecreate, `spec.containers[0].resources.requests["x.y/gpu"] recreate`, ""},
		{"container added", "  terminationGracePeriodSeconds", "  - {name: new, image: n}\n  terminationGracePeriodSeconds", false, ModeRecreate, "spec.containers[2] recreate", ""},
		{"container removed", "  - name: side\n    image: log:1\n", "", false, ModeRecreate, "spec.containers[1] recreate", ""},
		{"container renamed", "name: side", "name: logs", false, ModeRecreate, "spec.containers[1].name recreate", ""},
		{"image removed", "    image: log:1\n", "", false, ModeRecreate, "spec.containers[1].image recreate", ""},
		{"grace period", "Seconds: 30", "Seconds: 60", false, ModeRecreate, "spec.terminationGracePeriodSeconds recreate", ""},
		{"readiness gate", "  terminationGrace", "  readinessGates: [{conditionType: InPlaceUpdateReady}]\n  terminationGrace", false, ModeRecreate, "spec.readinessGates recreate", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.from != "" && !strings.Contains(baseTemplate, c.from) {
				t.Fatalf("%q is not in the template", c.from)
			}
			change := TemplateChange{
				Old:    cluster.Revision{Template: template(t, baseTemplate)},
				New:    cluster.Revision{Template: template(t, strings.Replace(baseTemplate, c.from, c.to, 1))},
				Policy: PolicyInPlaceIfPossible, Gates: cluster.DefaultGates(),
			}
			change.Gates.InPlaceWorkloadVerticalScaling = c.vertical
			got := change.Eligible()
			if got.Mode != c.mode || fieldText(got) != c.fields || strings.Join(got.Restarts, " ") != c.restarts {
				t.Errorf("%s (%s): %s; restarts %v", got.Mode, got.Why, fieldText(got), got.Restarts)
			}
			if got.Why == "" {
				t.Error("no reason")
			}
			holdPolicies(t, change, got)
		})
	}
}

func fieldText(e Eligibility) string {
	var out []string
	for _, f := range e.Fields {
		out = append(out, f.Path+" "+string(f.Effect))
	}
	return strings.Join(out, ", ")
}

// holdPolicies asks again under the other policies: the fields stay the same,
// InPlaceOnly refuses what would be recreated, ReCreate recreates everything.
func holdPolicies(t *testing.T, c TemplateChange, got Eligibility) {
	t.Helper()
	for _, policy := range []UpdatePolicy{"", PolicyRecreate, PolicyInPlaceOnly} {
		c.Policy = policy
		e := c.Eligible()
		want := got.Mode
		switch {
		case got.Mode == ModeUnchanged:
		case policy != PolicyInPlaceOnly:
			want = ModeRecreate
		case got.Mode == ModeRecreate:
			want = ModeNotAllowed
		}
		if e.Mode != want {
			t.Errorf("under %q: %s, want %s", policy, e.Mode, want)
		}
		if diff := cmp.Diff(got.Fields, e.Fields); diff != "" {
			t.Errorf("under %q: %s", policy, diff)
		}
	}
}

// TestEligible_NamesAllBlockingFields: one blocking field among several decides, and
// all are named, the order of containers being their position (024).
func TestEligible_NamesAllBlockingFields(t *testing.T) {
	swapped := template(t, baseTemplate)
	spec := maps.Clone(swapped["spec"].(map[string]any))
	list := spec["containers"].([]any)
	spec["containers"] = []any{list[1], list[0]}
	change := TemplateChange{
		Old: cluster.Revision{Template: swapped}, New: cluster.Revision{Template: map[string]any{"metadata": swapped["metadata"], "spec": spec}},
		Policy: PolicyInPlaceIfPossible, Gates: cluster.DefaultGates(),
	}
	got := change.Eligible()
	if got.Mode != ModeRecreate || len(got.Fields) < 6 {
		t.Errorf("%s: %s", got.Mode, fieldText(got))
	}
	if !strings.Contains(got.Why, "spec.containers[0].env") {
		t.Errorf("why %q", got.Why)
	}
}

func TestEligible_Gates(t *testing.T) {
	old := cluster.Revision{Template: template(t, baseTemplate), ClaimsHash: "1"}
	read := cluster.Revision{Template: template(t, strings.Replace(baseTemplate, "team: a", "team: b", 1)), ClaimsHash: "1"}
	image := cluster.Revision{Template: template(t, strings.Replace(baseTemplate, "web:1", "web:2", 1)), ClaimsHash: "2"}
	for _, c := range []struct {
		name   string
		new    cluster.Revision
		policy UpdatePolicy
		gates  cluster.Gates
		want   UpdateMode
	}{
		{"env is read, gate off", read, PolicyInPlaceIfPossible, cluster.Gates{}, ModeMetadataOnly},
		{"env is read, gate on", read, PolicyInPlaceIfPossible, cluster.DefaultGates(), ModeInPlace},
		{"other claims, gate off", image, PolicyInPlaceIfPossible, cluster.DefaultGates(), ModeInPlace},
		{"other claims, gate on", image, PolicyInPlaceIfPossible, cluster.Gates{RecreatePodWhenChangeVCT: true}, ModeRecreate},
		{"other claims, InPlaceOnly", image, PolicyInPlaceOnly, cluster.Gates{RecreatePodWhenChangeVCT: true}, ModeInPlace},
	} {
		if got := (TemplateChange{old, c.new, c.policy, c.gates}).Eligible(); got.Mode != c.want {
			t.Errorf("%s: %s (%s)", c.name, got.Mode, got.Why)
		}
	}
}

// TestEligible_ResizeKeepsTheQOSClass: cpu and memory may change in place only while the class stays.
func TestEligible_ResizeKeepsTheQOSClass(t *testing.T) {
	guaranteed := func(cpu, limit string) cluster.Revision {
		return cluster.Revision{Template: template(t, `
spec:
  containers:
  - name: main
    resources: {requests: {cpu: `+cpu+`, memory: 1Gi}, limits: {cpu: `+limit+`, memory: 1Gi}}
`)}
	}
	change := TemplateChange{Policy: PolicyInPlaceIfPossible, Gates: cluster.Gates{InPlaceWorkloadVerticalScaling: true}}
	for _, c := range []struct {
		old, new cluster.Revision
		want     UpdateMode
	}{
		{guaranteed("1", "1"), guaranteed("2", "2"), ModeInPlace},
		{guaranteed("1", "1"), guaranteed("2000m", "2"), ModeInPlace},
		{guaranteed("1", "1"), guaranteed("1", "2"), ModeRecreate},
		{guaranteed("1", "2"), guaranteed("2", "2"), ModeRecreate},
		{guaranteed("1", "3"), guaranteed("2", "3"), ModeInPlace},
	} {
		change.Old, change.New = c.old, c.new
		got := change.Eligible()
		if got.Mode != c.want {
			t.Errorf("%s: %s (%s)", fieldText(got), got.Mode, got.Why)
		}
		if c.want == ModeRecreate && !strings.Contains(got.Why, "QoS class") {
			t.Errorf("why %q", got.Why)
		}
	}
}

func TestQOSOf(t *testing.T) {
	for in, want := range map[string]string{
		"containers: [{name: a}]":                                                                                          "BestEffort",
		"containers: [{name: a, resources: {requests: {cpu: 0}}}]":                                                         "BestEffort",
		"containers: [{name: a, resources: {requests: {cpu: 1}}}]":                                                         "Burstable",
		"containers: [{name: a, resources: {limits: {cpu: 1}}}]":                                                           "Burstable",
		"containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]":                                              "Guaranteed",
		"containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: b}]":                                   "Burstable",
		"initContainers: [{name: i}]\ncontainers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]":                 "Burstable",
		"containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}}]":                       "Burstable",
		"containers: [{name: a, resources: {limits: {ephemeral-storage: 1Gi}}}]":                                           "BestEffort",
		"containers: [{name: a, resources: {limits: {cpu: nonsense}}}]":                                                    "BestEffort",
		"containers: [{name: a, resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {cpu: 1, memory: 1Gi}}}]":      "Guaranteed",
		"containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi, x.y/gpu: 3}}}]": "Guaranteed",
	} {
		if got := qosOf(map[string]any{"spec": template(t, in)}); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestForPod(t *testing.T) {
	p := pod("p1", "o")
	inPlace := Eligibility{Mode: ModeInPlace, Policy: PolicyInPlaceIfPossible}
	only := Eligibility{Mode: ModeMetadataOnly, Policy: PolicyInPlaceOnly}
	recreate := Eligibility{Mode: ModeRecreate, Policy: PolicyInPlaceIfPossible, Why: "env"}
	for _, c := range []struct {
		name                string
		e                   Eligibility
		revision, gate, has bool
		want                UpdateMode
		why                 string
	}{
		{"fine", inPlace, true, false, false, ModeInPlace, ""},
		{"revision pruned", inPlace, false, false, false, ModeRecreate, "revision web-o of pod p1"},
		{"revision pruned, InPlaceOnly", only, false, false, false, ModeNotAllowed, "revision web-o of pod p1"},
		{"no gate on a DaemonSet pod", inPlace, true, true, false, ModeRecreate, "readiness gate"},
		{"gate on a DaemonSet pod", inPlace, true, true, true, ModeInPlace, ""},
		{"recreated anyway", recreate, false, true, false, ModeRecreate, "env"},
	} {
		p.ReadinessGates = nil
		if c.has {
			p.ReadinessGates = []string{inPlaceGate}
		}
		if mode, why := c.e.ForPod(p, c.revision, c.gate); mode != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s, %q", c.name, mode, why)
		}
	}
}

// TestEligible_NeverPanics: whatever is in a template, there is an answer.
func TestEligible_NeverPanics(t *testing.T) {
	for _, odd := range []map[string]any{
		nil,
		{},
		{"metadata": "text"},
		{"metadata": map[string]any{"labels": []any{1}}},
		{"spec": []any{}},
		{"spec": map[string]any{"containers": "none"}},
		{"spec": map[string]any{"containers": []any{"text", nil, 3}}},
		{"spec": map[string]any{"containers": []any{map[string]any{"name": 1, "image": 2, "env": []any{nil}}}}},
	} {
		base := cluster.Revision{Template: template(t, baseTemplate)}
		for _, c := range []TemplateChange{{Old: base, New: cluster.Revision{Template: odd}}, {New: base, Old: cluster.Revision{Template: odd}}} {
			c.Policy, c.Gates = PolicyInPlaceOnly, cluster.Gates{InPlaceUpdateEnvFromMetadata: true, InPlaceWorkloadVerticalScaling: true}
			if got := c.Eligible(); got.Mode != ModeNotAllowed {
				t.Errorf("%v: %s", odd, got.Mode)
			}
		}
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(text, err)
	}
	return v
}

// TestEligible_MasksSecrets: each pair of templates differs in a secret; neither value
// may appear, and the change is still seen.
func TestEligible_MasksSecrets(t *testing.T) {
	for name, c := range map[string]struct{ template, path string }{
		"an env variable":         {`{"spec": {"containers": [{"name": "a", "env": [{"name": "X", "value": "y"}, {"name": "DB_PASSWORD", "value": "~"}]}]}}`, "spec.containers[0].env[1].value"},
		"another":                 {`{"spec": {"containers": [{"name": "a", "env": [{"name": "API_KEY", "value": "~"}]}]}}`, "spec.containers[0].env[0].value"},
		"a short name":            {`{"spec": {"initContainers": [{"name": "a", "env": [{"name": "MYSQL_PWD", "value": "~"}]}]}}`, "spec.initContainers[0].env[0].value"},
		"a URL":                   {`{"spec": {"containers": [{"name": "a", "env": [{"name": "DB", "value": "postgres://shop:~@db:5432/x"}]}]}}`, "spec.containers[0].env[0].value"},
		"a flag":                  {`{"spec": {"containers": [{"name": "a", "args": ["--token=~"]}]}}`, "spec.containers[0].args[0]"},
		"a flag and its value":    {`{"spec": {"containers": [{"name": "a", "command": ["run", "--auth-token", "~"]}]}}`, "spec.containers[0].command[2]"},
		"a shell line":            {`{"spec": {"containers": [{"name": "a", "args": ["run --db-password ~ -v"]}]}}`, "spec.containers[0].args[0]"},
		"an annotation":           {`{"metadata": {"annotations": {"example.com/token": "~"}}}`, `metadata.annotations["example.com/token"]`},
		"a whole container":       {`{"spec": {"containers": [{"name": "a", "env": [{"name": "SECRET", "value": "~"}]}]}}`, "spec.containers[0]"},
		"a whole list":            {`{"spec": {"containers": [{"name": "a", "args": ["--password", "~"]}]}}`, "spec.containers[0].args"},
		"a variable that appears": {`{"spec": {"containers": [{"name": "a", "env": [{"name": "TOKEN", "value": "~"}]}]}}`, "spec.containers[0].env[0]"},
	} {
		old, updated := decoded(t, strings.ReplaceAll(c.template, "~", "hunter1")), decoded(t, strings.ReplaceAll(c.template, "~", "hunter2"))
		switch name {
		case "a whole container":
			old = decoded(t, `{"spec": {"containers": []}}`)
		case "a whole list":
			old = decoded(t, `{"spec": {"containers": [{"name": "a"}]}}`)
		case "a variable that appears":
			old = decoded(t, `{"spec": {"containers": [{"name": "a", "env": []}]}}`)
		}
		e := TemplateChange{Old: cluster.Revision{Template: old}, New: cluster.Revision{Template: updated}, Policy: PolicyInPlaceIfPossible}.Eligible()
		if len(e.Fields) != 1 || e.Fields[0].Path != c.path {
			t.Errorf("%s: fields %+v", name, e.Fields)
		}
		text, err := json.Marshal(e)
		if err != nil || strings.Contains(string(text), "hunter") || !strings.Contains(string(text), redact.Masked) {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
}

// TestEligible_ShowsPlainValues: what is no secret is shown, and null stays null.
func TestEligible_ShowsPlainValues(t *testing.T) {
	old := decoded(t, `{"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "a", "image": "r:5000/a:1", "args": ["-v", "x", "--secret-name"],
		"env": [{"name": "LEVEL", "value": "debug"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}]}]}}`)
	updated := decoded(t, `{"metadata": {"labels": {}}, "spec": {"containers": [{"name": "a", "image": "r:5000/a:2", "args": ["-v", "y", "--secret-name"],
		"env": [{"name": "LEVEL", "value": "info"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "other"}}}]}]}}`)
	var got [][3]any
	for _, f := range (TemplateChange{Old: cluster.Revision{Template: old}, New: cluster.Revision{Template: updated}}).Eligible().Fields {
		got = append(got, [3]any{f.Path, f.Old, f.New})
	}
	want := [][3]any{
		{"metadata.labels.a", "1", nil},
		{"spec.containers[0].args[1]", "x", "y"},
		{"spec.containers[0].env[0].value", "debug", "info"},
		{"spec.containers[0].env[1].valueFrom.secretKeyRef.key", "token", "other"},
		{"spec.containers[0].image", "r:5000/a:1", "r:5000/a:2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSidecarSetEligible_MasksSecrets: a SidecarSet goes another way to its answer.
func TestSidecarSetEligible_MasksSecrets(t *testing.T) {
	e := SidecarSetEligible(decoded(t, `{"containers": [{"name": "m", "env": [{"name": "TOKEN", "value": "hunter1"}]}]}`),
		decoded(t, `{"containers": [{"name": "m", "env": [{"name": "TOKEN", "value": "hunter2"}]}]}`))
	if len(e.Fields) != 1 || e.Fields[0].Old != redact.Masked || e.Fields[0].New != redact.Masked {
		t.Errorf("fields %+v", e.Fields)
	}
}
