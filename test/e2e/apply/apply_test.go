package apply

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
)

const settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, size: small}
---
`

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {token: hunter2}
---
`

func document(apiVersion, kind, image, more string) string {
	return `
apiVersion: ` + apiVersion + `
kind: ` + kind + `
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  ` + more + `
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example.com/web:` + image + `"}]}
---
`
}

// TestApply_CreatesAndChangesObjects: create, change, and nothing to do; a dry run writes nothing.
func TestApply_CreatesAndChangesObjects(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, mode := range []string{"client", "server"} {
		a := b.apply(t, settings+secret, "--dry-run", mode)
		if a.code != 0 || b.configMap(t, "settings") != nil {
			t.Fatalf("--dry-run=%s: exit %d, wrote %v", mode, a.code, b.configMap(t, "settings"))
		}
		suffix := map[string]string{"client": " (dry run)", "server": " (server dry run)"}[mode]
		a.has(t, "configmap/settings created"+suffix, "secret/key created"+suffix)
	}
	if a := b.apply(t, settings); a.code != 2 || !strings.Contains(a.err, "add --yes to confirm") || b.configMap(t, "settings") != nil {
		t.Errorf("there was no confirmation prompt: exit %d\n%s", a.code, a.err)
	}
	b.done(t, settings+secret).has(t, "configmap/settings created", "secret/key created")
	b.done(t, settings+secret).has(t, "configmap/settings unchanged", "secret/key unchanged")

	changed := strings.Replace(settings, "color: blue, size: small", "color: red", 1) + strings.Replace(secret, "hunter2", "hunter3", 1)
	a := b.apply(t, changed, "--dry-run=server")
	a.has(t, "configmap/settings configured (server dry run)", "secret/key configured (server dry run)")
	if !strings.Contains(a.err, "blue") || strings.Contains(a.err, "hunter") || strings.Contains(a.err, "aHVudGVy") {
		t.Errorf("the diff should show the color, and no secret:\n%s", a.err)
	}
	b.done(t, changed).has(t, "configmap/settings configured")
	if data := b.configMap(t, "settings").Data; data["color"] != "red" || data["size"] != "" {
		t.Errorf("data: %v", data)
	}
}

// TestApply_WritesNothingWhenOneObjectIsWrong: what is wrong with one object keeps all from being written.
func TestApply_WritesNothingWhenOneObjectIsWrong(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for name, c := range map[string]struct{ text, want string }{
		"unknown field": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, date: {a: b}}", "date"},
		"unknown kind":  {"{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: bad}}", "does not serve example.org/v1 Gizmo"},
		"invalid":       {document("apps/v1", "Deployment", "1", "minReadySeconds: -1"), "minReadySeconds"},
	} {
		if a := b.apply(t, settings+c.text, "--yes"); a.code != 1 || !strings.Contains(a.err, c.want) || b.configMap(t, "settings") != nil {
			t.Errorf("%s: exit %d\n%s", name, a.code, a.err)
		}
	}
}

// TestApply_ReportsConflicts: fields of another manager are refused in kubectl's words.
func TestApply_ReportsConflicts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.done(t, settings)
	_, err := b.Client().CoreV1().ConfigMaps(b.namespace).Patch(t.Context(), "settings", types.MergePatchType,
		[]byte(`{"data":{"color":"green"}}`), metav1.PatchOptions{FieldManager: "other-manager"})
	must(t, err)
	a := b.apply(t, settings, "--yes")
	for _, want := range []string{`Apply failed with 1 conflict: conflict with "other-manager" using v1: .data.color`, "please re-run the apply", "--force-conflicts"} {
		if a.code != 1 || !strings.Contains(a.err, want) {
			t.Errorf("exit %d, lacks %q:\n%s", a.code, want, a.err)
		}
	}
	b.done(t, settings, "--force-conflicts").has(t, "configmap/settings configured")
	if got := b.configMap(t, "settings").Data["color"]; got != "blue" {
		t.Errorf("color: %s", got)
	}
}

// TestPrune_DeletesOnlyWhatLeftTheManifests: what left the manifests is deleted, and nothing else.
func TestPrune_DeletesOnlyWhatLeftTheManifests(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	other := strings.Replace(settings, "name: settings", "name: other", 1)
	b.done(t, strings.Replace(settings, "name: settings", "name: bystander", 1))
	b.done(t, settings+other+secret, "--applyset", "configmap/shop")
	parent := set.Parent{Kind: "ConfigMap", Namespace: b.namespace, Name: "shop"}
	got := b.configMap(t, "shop")
	if got.Labels[set.IDLabel] != parent.ID() || got.Annotations[set.KindsAnnotation] != "ConfigMap,Secret" || b.configMap(t, "other").Labels[set.PartOfLabel] != parent.ID() {
		t.Errorf("parent: %v %v, member: %v", got.Labels, got.Annotations, b.configMap(t, "other").Labels)
	}
	a := b.apply(t, settings, "--applyset", "configmap/shop", "--prune", "--dry-run=server")
	a.has(t, "configmap/other pruned (server dry run)", "secret/key pruned (server dry run)")
	b.done(t, settings, "--applyset", "configmap/shop", "--prune").has(t, "configmap/settings unchanged", "configmap/other pruned", "secret/key pruned")
	if b.configMap(t, "other") != nil || b.configMap(t, "settings") == nil || b.configMap(t, "bystander") == nil {
		t.Error("the wrong objects are gone")
	}
	if got := b.configMap(t, "shop").Annotations[set.KindsAnnotation]; got != "ConfigMap" {
		t.Errorf("the parent still names %s", got)
	}
	if a := b.apply(t, settings, "--applyset", "configmap/else", "--yes"); a.code != 1 || !strings.Contains(a.err, "another ApplySet") {
		t.Errorf("a member of another set: exit %d\n%s", a.code, a.err)
	}
	if a := b.apply(t, other, "--applyset", "configmap/settings", "--yes"); a.code != 1 || !strings.Contains(a.err, "not a parent") {
		t.Errorf("a parent that is none: exit %d\n%s", a.code, a.err)
	}
}
