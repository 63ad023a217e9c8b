package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	binary "github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

// known writes what kustomize is given to know Kruise's kinds, and a
// kustomization that lists it beside text.
func known(t *testing.T, dir, text string) {
	t.Helper()
	schema, err := kustomize.Schema()
	if err != nil {
		t.Fatal(err)
	}
	config, err := kustomize.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"kruise-schema.json": schema, "kruise-config.yaml": config,
		"kustomization.yaml": []byte(text + "openapi: {path: kruise-schema.json}\nconfigurations: [kruise-config.yaml]\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConfigured_EqualsTheCommandWithConfiguration: what is built with Kruise's schema, kustomize builds when it
// is given the documents, byte for byte.
func TestConfigured_EqualsTheCommandWithConfiguration(t *testing.T) {
	dirs, err := filepath.Glob("testdata/known/*/kustomization.yaml")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err)
	}
	for _, file := range dirs {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			takesPart := true
			out, err := kustomizationDir{Dir: filepath.Dir(file), KruiseSchema: &takesPart}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := out.Text
			same(t, filepath.Join(filepath.Dir(file), "built.yaml"), string(got))
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			known(t, dir, string(text))
			want, stderr, err := binary.Run(t, dir, nil, "build", ".")
			if err != nil {
				t.Fatal(stderr)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("-kustomize +render:\n%s", diff)
			}
		})
	}
}

func same(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// merging are objects of both versions, and a patch for one element of a list.
var merging = map[string]string{
	"CloneSet":             `{template: {spec: {containers: [{name: a, image: i, env: [{name: x, value: "1"}]}, {name: b, image: i}], volumes: [{name: v, emptyDir: {}}]}}}`,
	"StatefulSet":          `{template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}`,
	"DaemonSet":            `{template: {spec: {initContainers: [{name: a, image: i}, {name: b, image: i}]}}}`,
	"BroadcastJob":         `{template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}`,
	"AdvancedCronJob":      `{template: {broadcastJobTemplate: {spec: {template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}}}}`,
	"UnitedDeployment":     `{template: {advancedStatefulSetTemplate: {spec: {template: {spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}}}}, topology: {subsets: [{name: a, replicas: 1}, {name: b}]}}`,
	"SidecarSet":           `{containers: [{name: a, image: i}, {name: b, image: i}], volumes: [{name: v, emptyDir: {}}]}`,
	"WorkloadSpread":       `{subsets: [{name: a, maxReplicas: 1}, {name: b}]}`,
	"ResourceDistribution": `{targets: {includedNamespaces: {list: [{name: a}, {name: b}]}}}`,
	"PodProbeMarker":       `{probes: [{name: a, containerName: c}, {name: b}]}`,
	"EphemeralJob":         `{template: {ephemeralContainers: [{name: a, image: i}, {name: b, image: i}]}}`,
}

// TestConfigured_SchemaIsThatOfTheCommand: with the document alone, kustomize itself merges by
// name, in both versions, and still knows Kubernetes' kinds.
func TestConfigured_SchemaIsThatOfTheCommand(t *testing.T) {
	const pod = `{containers: [{name: a, image: i}, {name: b, image: i}]}`
	var resources, patches strings.Builder
	write := func(version, kind, spec string) {
		head := "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + strings.ToLower(kind) + "}\nspec: "
		patch := strings.NewReplacer("{name: a,", "{name: b, changed: true,", "[{name: a}, {name: b}]", "[{name: b, changed: true}]").Replace(spec)
		patch = strings.NewReplacer(", {name: b, image: i}", "", ", {name: b}", "").Replace(patch)
		resources.WriteString(head + spec + "\n---\n")
		patches.WriteString(head + patch + "\n---\n")
	}
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		for kind, spec := range merging {
			if version == "v1beta1" && (kind == "PodProbeMarker" || kind == "EphemeralJob") {
				continue
			}
			write("apps.kruise.io/"+version, kind, spec)
		}
	}
	write("v1", "Pod", pod)
	dir := Files(t, map[string]string{"resources.yaml": resources.String(), "patch.yaml": patches.String()})
	known(t, dir, "resources: [resources.yaml]\npatches: [{path: patch.yaml}]\nnamespace: shop\n")
	out, stderr, err := binary.Run(t, dir, nil, "build", ".")
	if err != nil {
		t.Fatal(stderr)
	}
	for object := range strings.SplitSeq(out, "---\n") {
		if !strings.Contains(object, "name: a\n") || strings.Count(object, "name: b\n") == 0 || !strings.Contains(object, "changed: true") {
			t.Errorf("lists do not merge by name:\n%s", object)
		}
		global := strings.Contains(object, "kind: SidecarSet") || strings.Contains(object, "kind: ResourceDistribution")
		if global == strings.Contains(object, "namespace: shop") {
			t.Errorf("namespace:\n%s", object)
		}
	}
}

// TestConfigured_OwnConfigurationWins: a kustomization that already configures kustomize
// for Kruise is built as kustomize builds it.
func TestConfigured_OwnConfigurationWins(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml": "resources: [o.yaml]\ncommonLabels: {team: shop}\nconfigurations: [own.yaml]\n",
		"own.yaml":           "commonLabels: [{path: spec/selector/matchLabels, kind: CloneSet}]\n",
		"o.yaml":             "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {spec: {}}}\n",
	})
	got, err := Kustomize(dir)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "selector") || strings.Count(string(got), "team: shop") != 1 {
		t.Errorf("got\n%s", got)
	}
}
