package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
)

// Files writes a tree of files into a new directory.
func Files(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const cloneSet = `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1"}
      - {name: side, image: "busybox:1"}
`

// layers is an overlay with a component on a base, with all that kustomize
// does to names.
var layers = map[string]string{
	"base/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: nginx:1
        envFrom: [{configMapRef: {name: settings}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
`,
	"base/kustomization.yaml": `resources: [web.yaml]
configMapGenerator: [{name: settings, literals: [a=b]}]
commonLabels: {team: shop}
`,
	"comp/kustomization.yaml": `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3}}'
`,
	"over/kustomization.yaml": `resources: [../base]
components: [../comp]
namePrefix: prod-
namespace: shop
images: [{name: nginx, newTag: "2"}]
`,
}

func TestKustomize_EqualsTheCommand(t *testing.T) {
	tests := map[string]struct {
		tree map[string]string
		dir  string
	}{
		"overlay with component": {layers, "over"},
		"base":                   {layers, "base"},
		"sort order": {map[string]string{
			"kustomization.yaml": "resources: [web.yaml]\nsortOptions: {order: fifo}\n",
			"web.yaml":           cloneSet + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
		}, "."},
		"legacy order": {map[string]string{
			"kustomization.yaml": "resources: [web.yaml]\n",
			"web.yaml":           cloneSet + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
		}, "."},
		"nothing": {map[string]string{"kustomization.yaml": "namePrefix: a-\n"}, "."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := Files(t, tc.tree)
			dir := filepath.Join(root, tc.dir)
			want, stderr, err := kustomize.Run(t, dir, nil, "build", ".")
			if err != nil {
				t.Fatal(stderr)
			}
			got, err := kustomizationDir{Dir: dir, Root: root}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got.Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKustomize_KeepsNothingBetweenBuilds: a schema of one build must not reach the next.
func TestKustomize_KeepsNothingBetweenBuilds(t *testing.T) {
	plain := Files(t, map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\npatches: [{path: patch.yaml}]\n",
		"web.yaml":           "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, image: x}, {name: y, image: y}]}\n",
		"patch.yaml":         "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: y, image: z}]}\n",
	})
	custom := Files(t, map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\npatches: [{path: patch.yaml}]\nopenapi: {path: schema.json}\n",
		"web.yaml":           "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n",
		"patch.yaml":         "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {n: 1}\n",
		"schema.json":        `{"definitions": {"thing": {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}]}}}`,
	})
	first, err := Kustomize(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Kustomize(custom); err != nil {
		t.Fatal(err)
	}
	again, err := Kustomize(plain)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(again), "name: x") {
		t.Errorf("the patch removed a container:\n%s", again)
	}
}

func TestKustomize_MergesKruiseByName(t *testing.T) {
	tests := map[string]struct{ object, patch string }{
		"CloneSet": {
			cloneSet,
			"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: side, image: new}]}}}\n",
		},
		"SidecarSet": {
			"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: web}\nspec: {containers: [{name: main, image: a, transferEnv: []}, {name: side, image: b}]}\n",
			"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: web}\nspec: {containers: [{name: side, image: new}]}\n",
		},
		"UnitedDeployment": {
			"apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web}\nspec: {template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: main, image: a}, {name: side, image: b}]}}}}}}\n",
			"apiVersion: apps.kruise.io/v1alpha1\nkind: UnitedDeployment\nmetadata: {name: web}\nspec: {template: {cloneSetTemplate: {spec: {template: {spec: {containers: [{name: side, image: new}]}}}}}}\n",
		},
		"AdvancedCronJob": {
			"apiVersion: apps.kruise.io/v1alpha1\nkind: AdvancedCronJob\nmetadata: {name: web}\nspec: {template: {jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: a}, {name: side, image: b}]}}}}}}\n",
			"apiVersion: apps.kruise.io/v1alpha1\nkind: AdvancedCronJob\nmetadata: {name: web}\nspec: {template: {jobTemplate: {spec: {template: {spec: {containers: [{name: side, image: new}]}}}}}}\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := Files(t, map[string]string{
				"kustomization.yaml": "resources: [o.yaml]\npatches: [{path: p.yaml}]\n", "o.yaml": tc.object, "p.yaml": tc.patch,
			})
			taking := true
			got, err := kustomizationDir{Dir: dir, KruiseSchema: &taking}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got.Text), "name: main") || !strings.Contains(string(got.Text), "image: new") {
				t.Errorf("containers do not merge by name:\n%s", got.Text)
			}
		})
	}
}

func TestKustomize_Refuses(t *testing.T) {
	function := "apiVersion: a/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: 'exec: {path: /bin/true}'\n"
	tests := map[string]struct {
		tree             map[string]string
		dir, want, where string
	}{
		"web resource":        {map[string]string{"kustomization.yaml": "resources:\n- https://example.com/a.yaml\n"}, ".", "is a remote place", "kustomization.yaml:2"},
		"git base":            {map[string]string{"kustomization.yaml": "bases:\n- git@example.com:a/b\n"}, ".", "is a remote place", "kustomization.yaml:2"},
		"github":              {map[string]string{"kustomization.yaml": "resources: [github.com/a/b]\n"}, ".", "is a remote place", ""},
		"forced git":          {map[string]string{"kustomization.yaml": "resources: ['git::https://a/b']\n"}, ".", "is a remote place", ""},
		"component":           {map[string]string{"kustomization.yaml": "components: ['ssh://git@a/b']\n"}, ".", "is a remote place", ""},
		"file repository":     {map[string]string{"kustomization.yaml": "resources: ['file:///a/b']\n"}, ".", "is a remote place", ""},
		"in a base of a base": {map[string]string{"o/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yml": "resources: [../c]\n", "c/Kustomization": "resources: ['http://a']\n"}, "o", "is a remote place", filepath.Join("c", "Kustomization")},
		"patch path":          {map[string]string{"kustomization.yaml": "patches: [{path: 'https://a/b'}]\n"}, ".", "is a remote place", ""},
		"generator file":      {map[string]string{"kustomization.yaml": "configMapGenerator: [{name: a, files: ['k=https://a/b']}]\n"}, ".", "is a remote place", ""},
		"schema":              {map[string]string{"kustomization.yaml": "openapi: {path: 'https://a/b'}\n"}, ".", "is a remote place", ""},
		"configuration":       {map[string]string{"kustomization.yaml": "configurations: ['https://a/b']\n"}, ".", "is a remote place", ""},
		"inline plugin":       {map[string]string{"kustomization.yaml": "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: a}\n  path: https://a/b\n"}, ".", "is a remote place", ""},
		"plugin file":         {map[string]string{"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: ['https://a/b']\n"}, ".", "is a remote place", "g.yaml:4"},
		"plugin directory":    {map[string]string{"kustomization.yaml": "generators: [g]\n", "g/kustomization.yaml": "resources: [g.yaml]\n", "g/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: ['https://a/b']\n"}, ".", "is a remote place", "g.yaml:4"},
		"old patches":         {map[string]string{"kustomization.yaml": "patches: ['https://a/b']\n"}, ".", "invalid Kustomization", ""},
		"replacement":         {map[string]string{"kustomization.yaml": "replacements: [{path: 'https://a/b'}]\n"}, ".", "is a remote place", ""},
		"other case":          {map[string]string{"kustomization.yaml": "Resources: ['https://127.0.0.1:1/b']\n"}, ".", "is a remote place", ""},
		"twice the same key":  {map[string]string{"kustomization.yaml": "namePrefix: a\nnamePrefix: b\nresources: ['https://127.0.0.1:1/b']\n"}, ".", "is a remote place", "kustomization.yaml:3"},
		"a file of that name": {map[string]string{"kustomization.yaml": "resources: ['https://127.0.0.1:1/b']\n", "https:/127.0.0.1:1/b": cloneSet}, ".", "is a remote place", ""},
		"alias":               {map[string]string{"kustomization.yaml": "namePrefix: &x https://a\nresources: [*x]\n"}, ".", "is a remote place", ""},
		"function":            {map[string]string{"kustomization.yaml": "transformers: [f.yaml]\n", "f.yaml": function}, ".", "external plugins disabled", ""},
		"chart":               {map[string]string{"kustomization.yaml": "helmCharts: [{name: a, repo: 'https://a'}]\n"}, ".", "helm", ""},
		"outside":             {map[string]string{"o/kustomization.yaml": "resources: [../a.yaml]\n", "a.yaml": cloneSet}, "o", "security", ""},
		"not there":           {map[string]string{"kustomization.yaml": "resources: [a.yaml]\n"}, ".", "a.yaml", ""},
		"broken":              {map[string]string{"kustomization.yaml": "resources: [\n"}, ".", "", ""},
		"no kustomization":    {map[string]string{"a.yaml": cloneSet}, ".", "kustomization.yaml", ""},
		"no directory":        {map[string]string{"a.yaml": cloneSet}, "b", "/b: no such file or directory", ""},
		"a file":              {map[string]string{"a.yaml": cloneSet}, "a.yaml", "/a.yaml: is no directory", ""},
		"cycle":               {map[string]string{"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"}, "a", "cycle", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := Files(t, tc.tree)
			_, err := kustomizationDir{Dir: filepath.Join(root, tc.dir), Root: root}.Build(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			msg := err.Error()
			if !strings.Contains(msg, tc.want) || !strings.Contains(msg, tc.where) {
				t.Errorf("got %q, want %q at %q", msg, tc.want, tc.where)
			}
			if strings.Contains(msg, "\n") {
				t.Errorf("more than one line: %q", msg)
			}
		})
	}
	if _, err := Kustomize("https://example.com/a"); err == nil || !strings.Contains(err.Error(), "remote") {
		t.Errorf("a URL as directory: %v", err)
	}
}

// TestKustomize_TakesLocalNamesThatLookRemote: what only looks like a place elsewhere.
func TestKustomize_TakesLocalNamesThatLookRemote(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml":   "resources: [github.com/a.yaml]\ncommonAnnotations: {see: 'https://a'}\npatches:\n- patch: '[{\"op\": \"add\", \"path\": \"/spec/url\", \"value\": \"https://a\"}]'\n  target: {kind: CloneSet}\n",
		"github.com/a.yaml":    cloneSet,
		"unused/kustomization": "",
	})
	if _, err := Kustomize(dir); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"label":            "labels: [{pairs: {path: 'https://a'}}]\n",
		"annotation":       "commonAnnotations: {files: 'https://a', env: 'http://a', Path: 'https://a'}\n",
		"of a generator":   "configMapGenerator: [{name: a, literals: ['u=https://a'], options: {annotations: {path: 'https://a'}}}]\n",
		"of a transformer": "transformers:\n- |\n  apiVersion: builtin\n  kind: AnnotationsTransformer\n  metadata: {name: a, annotations: {path: 'https://a'}}\n  annotations: {path: 'https://a'}\n  fieldSpecs: [{path: metadata/annotations, create: true}]\n",
	} {
		dir := Files(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n" + text, "a.yaml": cloneSet})
		if _, err := Kustomize(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKustomize_ReportsPanics: names that a patch made the same are too much for kustomize itself.
func TestKustomize_ReportsPanics(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml": "resources: [o.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"same\"}]'\n",
		"o.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	})
	if _, err := Kustomize(dir); err == nil || !strings.Contains(err.Error(), "already registered id") {
		t.Errorf("got %v", err)
	}
}
