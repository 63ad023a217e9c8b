package plan_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// changes are what a person may do to a template, beside the image.
var changes = map[string]func(string) string{
	"image": func(s string) string { return s },
	"label added": func(s string) string {
		return strings.Replace(s, "{app: web}}\n    spec", "{app: web, tier: x}}\n    spec", 1)
	},
	"annotations added": func(s string) string {
		return strings.Replace(s, "labels: {app: web}}\n    spec", "labels: {app: web}, annotations: {a/b: c~d}}\n    spec", 1)
	},
	"env added": func(s string) string { return strings.Replace(s, `"web:2"`, `"web:2", env: [{name: A, value: b}]`, 1) },
	"container added": func(s string) string {
		return strings.Replace(s, `"web:2"}`, `"web:2"}, {name: side, image: "s:1"}`, 1)
	},
	"container before": func(s string) string {
		return strings.Replace(s, `[{name: main`, `[{name: side, image: "s:1"}, {name: main`, 1)
	},
	"grace period": func(s string) string {
		return strings.Replace(s, `"web:2"}]`, `"web:2"}], terminationGracePeriodSeconds: 5`, 1)
	},
	"node selector":   func(s string) string { return strings.Replace(s, `"web:2"}]`, `"web:2"}], nodeSelector: {a: b}`, 1) },
	"minReadySeconds": func(s string) string { return s + "  minReadySeconds: 4\n" },
}

// TestPatches_MakeTheDesiredObject sends every patch of a plan to the object as it
// was written, defaults missing, and compares: what comes out is what was asked for,
// there and back again, so that removed keys are gone.
func TestPatches_MakeTheDesiredObject(t *testing.T) {
	for kind, text := range allKinds() {
		for name, change := range changes {
			if name == "minReadySeconds" && kind == "StatefulSet" {
				continue // it is elsewhere there
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				next := change(strings.ReplaceAll(text, "web:1", newer))
				if next == text {
					t.Fatal("nothing changes")
				}
				there := patched(t, text, next)
				patched(t, there, text)
			})
		}
	}
}

func allKinds() map[string]string {
	out := maps.Clone(kinds)
	for name, text := range carriers {
		out["client "+name] = text
	}
	return out
}

// patched brings one document to another by the patches of a plan.
func patched(t *testing.T, from, to string) string {
	t.Helper()
	desired := read(t, to)
	p, err := plan.Build(desired, plan.Snapshot{Workload: read(t, from), Gates: cluster.DefaultGates()}, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	doc := asJSON(t, from)
	for _, s := range p.Steps {
		for _, patch := range s.Patches {
			doc = apply(t, doc, patch)
		}
	}
	got := read(t, string(doc))
	if diff := gocmp.Diff(specOf(t, desired), specOf(t, got)); diff != "" {
		t.Errorf("-desired +patched:\n%s", diff)
	}
	return string(doc)
}

func apply(t *testing.T, doc []byte, p plan.Patch) []byte {
	t.Helper()
	body := must(json.Marshal(p.Body))
	var err error
	if p.Type == plan.PatchMerge {
		doc, err = jsonpatch.MergePatch(doc, body)
	} else {
		doc, err = must(jsonpatch.DecodePatch(body)).Apply(doc)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return doc
}

func asJSON(t *testing.T, text string) []byte {
	t.Helper()
	return must(json.Marshal(tree.Value(must(yaml.Parse(text)).YNode())))
}

// specOf is the spec as JSON has it, without the label that distinguishes the pods of a
// ReplicaSet, and without a partition of 0, which has no effect.
func specOf(t *testing.T, w *cluster.Workload) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(must(json.Marshal(w.Object)), &v); err != nil {
		t.Fatal(err)
	}
	spec, _ := v["spec"].(map[string]any)
	if template, ok := spec["template"].(map[string]any); ok {
		meta, _ := template["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		delete(labels, "controller-revision-hash")
	}
	strategy, _ := spec["updateStrategy"].(map[string]any)
	if rolling, ok := strategy["rollingUpdate"].(map[string]any); ok && rolling["partition"] == 0.0 {
		delete(rolling, "partition")
	}
	return spec
}

// TestPatches_FirstOneKeepsPodsBack: the patch that writes the template sets the partition
// too, so that nothing moves before its time.
func TestPatches_FirstOneKeepsPodsBack(t *testing.T) {
	for kind, want := range map[string]string{
		"CloneSet v1alpha1":  `{"op":"add","path":"/spec/updateStrategy","value":{"maxSurge":0,"maxUnavailable":"20%","partition":6,"type":"InPlaceIfPossible"}}`,
		"CloneSet v1beta1":   `{"op":"add","path":"/spec/updateStrategy","value":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"20%","partition":6,"podUpdatePolicy":"InPlaceIfPossible"},"type":"RollingUpdate"}}`,
		"StatefulSet":        `"partition":4,`,
		"native StatefulSet": `{"op":"add","path":"/spec/updateStrategy","value":{"rollingUpdate":{"partition":3},"type":"RollingUpdate"}}`,
	} {
		text := kinds[kind]
		p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), plan.Snapshot{Workload: read(t, text)}, plan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		first := string(must(json.Marshal(p.Steps[0].Patches[0].Body)))
		if !strings.Contains(first, want) || !strings.Contains(first, `{"op":"test","path":"/spec/template/spec/containers/0/image","value":"web:1"}`) {
			t.Errorf("%s: %s", kind, first)
		}
	}
}

// TestPausedPath_OfEachKind: where each version of a kind has its pause.
func TestPausedPath_OfEachKind(t *testing.T) {
	for kind, want := range map[[3]string]string{
		{"apps.kruise.io", "CloneSet", "v1alpha1"}:   "spec.updateStrategy.paused",
		{"apps.kruise.io", "CloneSet", "v1beta1"}:    "spec.updateStrategy.rollingUpdate.paused",
		{"apps.kruise.io", "SidecarSet", "v1beta1"}:  "spec.updateStrategy.paused",
		{"apps.kruise.io", "StatefulSet", "v1beta1"}: "spec.updateStrategy.rollingUpdate.paused",
		{"apps", "Deployment", "v1"}:                 "spec.paused",
		{"apps", "StatefulSet", "v1"}:                "",
		{"apps", "DaemonSet", "v1"}:                  "",
	} {
		if got := strings.Join(plan.PausedPath(kind[0], kind[1], kind[2]), "."); got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}

// TestPartitionPath_OfEachKind: docs/kruise/workloads.md#fields-to-patch; an Advanced StatefulSet is always
// patched in v1beta1.
func TestPartitionPath_OfEachKind(t *testing.T) {
	for kind, want := range map[string][2]string{
		"CloneSet v1alpha1":  {alpha, `{"spec":{"updateStrategy":{"partition":0}}}`},
		"CloneSet v1beta1":   {beta, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`},
		"StatefulSet":        {beta, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`},
		"native StatefulSet": {natives, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`},
	} {
		text := kinds[kind]
		if kind == "StatefulSet" {
			text = strings.Replace(text, beta, alpha, 1)
		}
		p, err := plan.Build(read(t, strings.ReplaceAll(text, "web:1", newer)), plan.Snapshot{Workload: read(t, text)}, plan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		last := p.Steps[len(p.Steps)-1].Patches[0]
		if got := string(must(json.Marshal(last.Body))); got != want[1] || last.Type != plan.PatchMerge || p.Target.APIVersion != want[0] {
			t.Errorf("%s: %s in %s", kind, got, p.Target.APIVersion)
		}
	}
}
