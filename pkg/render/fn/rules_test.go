package fn

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"

// TestRun_RefusesOtherInput: nothing is written for what is not a ResourceList.
func TestRun_RefusesOtherInput(t *testing.T) {
	tests := map[string]struct{ in, says string }{
		"nothing":           {"", "no objects"},
		"comment":           {"# hello\n", "no objects"},
		"text":              {"hello\n", "not a ResourceList"},
		"list":              {"- a\n", "not a ResourceList"},
		"object":            {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "not a ResourceList"},
		"v1 List":           {"apiVersion: v1\nkind: List\nitems: []\n", "not a ResourceList"},
		"group":             {"apiVersion: v1\nkind: ResourceList\nitems: []\n", "not a ResourceList"},
		"version":           {"apiVersion: config.kubernetes.io/v2\nkind: ResourceList\nitems: []\n", "unknown version"},
		"items missing":     {head, "items: is missing"},
		"items misspelt":    {head + "item: []\n", "items: is missing"},
		"items a mapping":   {head + "items: {}\n", "items: is no list"},
		"item a text":       {head + "items: [a]\n", "items[0]: is no object"},
		"item null":         {head + "items: [{}, null]\n", "items[1]: is no object"},
		"results":           {head + "items: []\nresults: {}\n", "results: is no list"},
		"second document":   {head + "items: []\n---\na: b\n", ":4: a second document"},
		"broken":            {head + "items: [\n", "the YAML is broken"},
		"duplicate key":     {head + "items: []\nitems: []\n", "appears twice"},
		"cyclic alias":      {head + "items: &a\n- *a\n", "cyclic"},
		"bomb":              {head + "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + bomb(9) + "items: []\n", "aliases make the document grow"},
		"binary":            {head + "items: []\x00\n", "NUL"},
		"latin":             {head + "items: []\n# \xff\n", "UTF-8"},
		"deep":              {head + "items: [" + strings.Repeat("[", 400) + strings.Repeat("]", 400) + "]\n", "deeper"},
		"JSON with trailer": {`{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[]} {}`, "second document"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, said := run(t, []byte(tc.in), ".")
			if out != "" || !strings.Contains(said, tc.says) || strings.Count(said, "\n") != 1 {
				t.Errorf("wrote %q, said %q, want %q", out, said, tc.says)
			}
		})
	}
}

// bomb doubles a value by ten with each line.
func bomb(lines int) string {
	var b strings.Builder
	for i := range lines {
		was, is := string(rune('a'+i)), string(rune('b'+i))
		b.WriteString(is + ": &" + is + " [" + strings.TrimSuffix(strings.Repeat("*"+was+",", 10), ",") + "]\n")
	}
	return b.String()
}

// TestRun_WritesEmptyItems: every way to write none is answered with items: [].
func TestRun_WritesEmptyItems(t *testing.T) {
	for name, in := range map[string]string{
		"empty":          head + "items: []\n",
		"null":           head + "items:\n",
		"generator call": head + "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		"end marker":     head + "items: []\n---\n# nothing more\n",
		"CRLF":           strings.ReplaceAll(head+"items: []\n", "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			out, said := run(t, []byte(in), ".")
			if said != "" || !strings.Contains(out, "\nitems: []\n") {
				t.Errorf("wrote %q, said %q", out, said)
			}
		})
	}
}

const cloneSet = `- apiVersion: apps.kruise.io/v1beta1
  kind: CloneSet
  metadata:
    name: web
    annotations:
      internal.config.kubernetes.io/path: a/web.yaml
      internal.config.kubernetes.io/index: "3"
  spec:
    selector: {matchLabels: {app: web}}
    updateStrategy: {rollingUpdate: {partition: 1}}
    template:
      metadata: {labels: {app: web}}
      spec:
        containers: [{name: main, image: nginx}]
`

func results(t *testing.T, out string) []map[string]any {
	t.Helper()
	doc, err := load.Single("out", []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, r := range tree.Items(tree.Get(tree.Root(doc), "results")) {
		all = append(all, tree.Value(r).(map[string]any))
	}
	return all
}

// TestRun_WritesFindingsToResults: what the engine finds is in results with its place, behind
// what came in, and on stderr.
func TestRun_WritesFindingsToResults(t *testing.T) {
	out, said := run(t, []byte(head+"items:\n"+cloneSet+"results:\n- message: before\n"), ".")
	got := results(t, out)
	if len(got) < 2 || got[0]["message"] != "before" {
		t.Fatalf("results: %v", got)
	}
	var lost map[string]any
	for _, r := range got[1:] {
		if r["severity"] == "warning" && lost == nil {
			lost = r
		}
		if s := r["severity"]; s != "info" && s != "warning" {
			t.Errorf("severity %v of %v", s, r)
		}
	}
	want := map[string]any{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"}
	if diff := cmp.Diff(want, lost["resourceRef"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"path": "a/web.yaml", "index": int64(3)}, lost["file"]); diff != "" {
		t.Error(diff)
	}
	if field, _ := lost["field"].(map[string]any); !strings.HasPrefix(field["path"].(string), "spec.") {
		t.Errorf("field: %v", lost["field"])
	}
	if !strings.Contains(said, "warning: CloneSet web: spec.") || strings.Contains(said, "error:") {
		t.Errorf("said %q", said)
	}
	for _, n := range []string{"path: a/web.yaml", `index: "3"`} {
		if !strings.Contains(out, "internal.config.kubernetes.io/"+n) {
			t.Errorf("what replaces the CloneSet lacks %s:\n%s", n, out)
		}
	}
}

// TestRun_EchoesItemsOnError: an orchestrator that ignores exit codes loses nothing.
func TestRun_EchoesItemsOnError(t *testing.T) {
	good := strings.Replace(cloneSet, "name: web\n", "name: good\n", 1)
	bad := strings.Replace(cloneSet, "partition: 1", "partition: -1x", 1)
	in := head + "items:\n" + good + bad
	out, said := run(t, []byte(in), ".")
	if !strings.HasPrefix(out, in) {
		t.Errorf("the output is not the input:\n%s", cmp.Diff(in, out))
	}
	got := results(t, out)
	if len(got) == 0 || got[len(got)-1]["severity"] != "error" {
		t.Errorf("results: %v", got)
	}
	if !strings.Contains(said, "error: a/web.yaml: CloneSet web: spec.updateStrategy") {
		t.Errorf("said %q", said)
	}
}

// TestRun_RefusesUnknownConfig: a config that only resembles a RenderConfig is refused.
func TestRun_RefusesUnknownConfig(t *testing.T) {
	for _, config := range []string{
		"{apiVersion: example.com/v1, kind: RenderConfig}",
		"{apiVersion: example.com/v1, kind: ConfigMap}",
		"{apiVersion: example.com/v1, kind: SidecarSet}",
		"{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet}",
		"{kind: RenderConfig}", "{a: b}", "text", "[]",
	} {
		t.Run(config, func(t *testing.T) {
			in := head + "items:\n" + cloneSet + "functionConfig: " + config + "\n"
			out, said := run(t, []byte(in), ".")
			if !strings.HasPrefix(out, in) || !strings.Contains(said, "is not a function config") {
				t.Errorf("said %q, wrote\n%s", said, out)
			}
		})
	}
}

func TestRun_StrictFailsOnLoss(t *testing.T) {
	config := "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {strict: 'true'}}\n"
	in := head + "items:\n" + cloneSet + config
	out, said := run(t, []byte(in), ".")
	if !strings.HasPrefix(out, in) || !strings.Contains(said, "something is lost") {
		t.Errorf("said %q, wrote\n%s", said, out)
	}
	for _, r := range results(t, out) {
		if r["severity"] == "warning" {
			t.Errorf("a loss is an error under strict: %v", r)
		}
	}
}

// TestRun_ValidateKeepsItems: findings only; echo keeps every byte of the items.
func TestRun_ValidateKeepsItems(t *testing.T) {
	config := "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {validate: %}}\n"
	echo := head + "items:\n" + cloneSet + strings.Replace(config, "%", "echo", 1)
	out, _ := run(t, []byte(echo), ".")
	if !strings.HasPrefix(out, echo) || len(results(t, out)) == 0 {
		t.Errorf("echo:\n%s", cmp.Diff(echo, out))
	}
	out, _ = run(t, []byte(head+"items:\n"+cloneSet+strings.Replace(config, "%", "empty", 1)), ".")
	if !strings.Contains(out, "items: []\n") || len(results(t, out)) == 0 {
		t.Errorf("empty:\n%s", out)
	}
}

const sidecarSet = `- apiVersion: apps.kruise.io/v1beta1
  kind: SidecarSet
  metadata:
    name: agent
  spec:
    selector: {matchLabels: {app: web}}
    containers: [{name: agent, image: agent}]
`

// TestRun_LocalConfigIsNoResult: what is local does not count as a result.
func TestRun_LocalConfigIsNoResult(t *testing.T) {
	local := "- apiVersion: kpt.dev/v1\n  kind: Kptfile\n  metadata: {name: a, annotations: {config.kubernetes.io/local-config: \"true\"}}\n"
	in := head + "items:\n" + sidecarSet + local
	out, said := run(t, []byte(in), ".")
	if !strings.HasPrefix(out, in) || !strings.Contains(said, "the result has no objects; the input had 1") {
		t.Errorf("said %q, wrote\n%s", said, out)
	}
	in += "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {allowEmpty: 'true'}}\n"
	out, said = run(t, []byte(in), ".")
	if strings.Contains(said, "error") || !strings.Contains(out, "Kptfile") || strings.Contains(out, "  kind: SidecarSet\n  metadata") {
		t.Errorf("said %q, wrote\n%s", said, out)
	}
}

// TestRun_RefusesDuplicates: an object that is made may not meet one that was there.
func TestRun_RefusesDuplicates(t *testing.T) {
	there := "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: NAME, namespace: default}\n"
	web, piece := strings.Replace(there, "NAME", "web", 1), strings.Replace(there, "NAME", "web-a", 1)
	tests := map[string]struct{ in, says string }{
		"behind":    {cloneSet + web, "Deployment of this name"},
		"before":    {web + cloneSet, "Deployment of this name"},
		"generator": {piece + configured(zones), "error: functionConfig: UnitedDeployment web: metadata.name: UnitedDeployment web becomes Deployment web-a, which the input holds already"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := head + "items:\n" + tc.in
			out, said := run(t, []byte(in), ".")
			if !strings.Contains(said, "error: ") || !strings.Contains(said, tc.says) {
				t.Errorf("said %q", said)
			}
			items, _, _ := strings.Cut(in, "functionConfig:")
			if !strings.HasPrefix(out, items) {
				t.Errorf("the output is not the input:\n%s", out)
			}
		})
	}
}

// configured makes a function config of a manifest.
func configured(manifest string) string {
	return "functionConfig:\n  " + strings.TrimSpace(strings.ReplaceAll(manifest, "\n", "\n  ")) + "\n"
}

func TestRun_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := Run(ctx, strings.NewReader(head+"items:\n"+cloneSet), &out, &out, nil)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(out.String(), head+"items:\n"+cloneSet) {
		t.Errorf("got %v and %q", err, out.String())
	}
}

func TestRun_ExplainsInResults(t *testing.T) {
	config := "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {explain: 'true'}}\n"
	out, said := run(t, []byte(head+"items:\n"+cloneSet+sidecarSet+config), ".")
	if !strings.Contains(said, "SidecarSet agent is injected: ") || !strings.Contains(out, "sidecarset: agent") {
		t.Errorf("said %q, wrote\n%s", said, out)
	}
}

// TestSidecarSet_WarnsWhenItMatchesNothing: a selector with a typing error is not a silent success,
// in the results and on stderr; one that matches gives no warning, and neither does a policy.
func TestSidecarSet_WarnsWhenItMatchesNothing(t *testing.T) {
	set := func(app, more string) string {
		return configured("apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: agent, annotations: {config.kubernetes.io/function: x" + more + "}}\n" +
			"spec: {selector: {matchLabels: {app: " + app + "}}, containers: [{name: agent, image: agent}]}")
	}
	const warning, labels = "matches no pod template of the input", "compare spec.selector"
	for name, c := range map[string]struct{ in, config, want, hint string }{
		"matches":      {cloneSet, set("web", ""), "", ""},
		"other label":  {cloneSet, set("wbe", ""), warning, labels},
		"no templates": {"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", set("web", ""), warning, "the input has no pod template"},
		"admission":    {cloneSet, set("wbe", ", kubectl-kruise.dev/sidecarSetAs: admission"), "", ""},
	} {
		out, stderr := run(t, []byte(head+"items:\n"+c.in+c.config), ".")
		if got := strings.Contains(stderr, "warning: SidecarSet agent: the SidecarSet matches no pod template"); got != (c.want != "") {
			t.Errorf("%s: stderr has the warning: %v\n%s", name, got, stderr)
		}
		if !strings.Contains(out, c.want) || !strings.Contains(out, c.hint) || (c.want == "") == strings.Contains(out, warning) {
			t.Errorf("%s: the results lack %q or %q:\n%s", name, c.want, c.hint, out)
		}
		if strings.Contains(stderr, "is not injected") || strings.Contains(stderr, "error: ") {
			t.Errorf("%s: an error, or explanations without the option:\n%s", name, stderr)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errors.New("torn") }
func (broken) Write([]byte) (int, error) { return 0, errors.New("torn") }

func TestRun_ReportsBrokenStreams(t *testing.T) {
	if err := Run(t.Context(), broken{}, &bytes.Buffer{}, &bytes.Buffer{}, nil); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("in: %v", err)
	}
	if err := Run(t.Context(), strings.NewReader(head+"items: []\n"), broken{}, &bytes.Buffer{}, nil); err == nil {
		t.Error("out: no error")
	}
	if err := Run(t.Context(), strings.NewReader(head+"items:\n"+cloneSet), &bytes.Buffer{}, broken{}, nil); err != nil {
		t.Errorf("stderr is no reason to fail: %v", err)
	}
}
