package load

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// component are the files of the component, in the folder kruise.
func component(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"kustomization.yaml", "kruise-schema.json", "kruise-config.yaml"} {
		b, err := os.ReadFile(checkout.Path("plugins", "kustomize", "component", name))
		if err != nil {
			t.Fatal(err)
		}
		out["kruise/"+name] = string(b)
	}
	return out
}

// with returns a tree with more files.
func with(tree map[string]string, more ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range append([]map[string]string{tree}, more...) {
		maps.Copy(out, m)
	}
	return out
}

// shop is an overlay with a patch of one container, a generated name that the CloneSet refers to,
// labels and images.
var shop = map[string]string{
	"base/web.yaml": `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1", envFrom: [{configMapRef: {name: settings}}]}
      - {name: side, image: "busybox:1", env: [{name: A, value: hidden-value}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
`,
	"base/kustomization.yaml": "resources: [web.yaml]\n",
}

const sidePatch = `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: side
        image: busybox:2
`

// places are the texts of what is undecided, with paths below dir.
func places(dir string, list []*resource.Error) (out []string) {
	for _, e := range list {
		out = append(out, strings.ReplaceAll(e.Error(), dir+"/", ""))
	}
	return out
}

// TestKustomize_BuildsAsTheCommandAndSaysWhereKruiseWouldDiffer: nothing of Kruise takes part in a
// build unasked, and each patch or field for which that matters is named.
func TestKustomize_BuildsAsTheCommandAndSaysWhereKruiseWouldDiffer(t *testing.T) {
	const loses = ": CloneSet web: spec.template.spec.containers: the patch (lines %s) replaces the whole list, since kustomize does not know the kind: main is dropped; side loses env"
	lines := func(place, at string) string { return place + strings.ReplaceAll(loses, "%s", at) }
	for name, tc := range map[string]struct {
		tree map[string]string
		want []string
	}{
		"a patch in a file": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "top/p.yaml": sidePatch},
			[]string{lines("top/p.yaml:9", "9 to 10")},
		},
		"a patch of old, with a target, below another": {
			map[string]string{
				"mid/kustomization.yaml": "resources: [../base]\npatchesStrategicMerge: [p.yaml]\n", "mid/p.yaml": "# first\n" + sidePatch,
				"top/kustomization.yaml": "resources: [../mid]\n",
			},
			[]string{lines("mid/p.yaml:10", "10 to 11")},
		},
		"a patch in place": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches:\n- target: {kind: CloneSet}\n  patch: |\n    kind: CloneSet\n    metadata: {name: any}\n    spec: {template: {spec: {containers: [{name: side, image: b}]}}}\n"},
			[]string{"top/kustomization.yaml:7" + strings.ReplaceAll(loses, "lines %s", "line 7")},
		},
		"built by kustomize": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\nbuildMetadata: [originAnnotations]\n", "top/p.yaml": sidePatch},
			[]string{lines("top/p.yaml:9", "9 to 10")},
		},
		"a configuration of a plugin": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\ntransformers: [t.yaml]\n", "top/p.yaml": sidePatch, "top/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: p.yaml\n"},
			[]string{lines("top/p.yaml:9", "9 to 10")},
		},
		"a name that is not followed": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\nconfigMapGenerator: [{name: settings, literals: [a=b]}]\n"},
			[]string{"top/kustomization.yaml:2: CloneSet web: spec.template.spec.containers[0].envFrom[0].configMapRef.name: the name is not followed, since kustomize does not know the kind: settings is called settings-4h2mbtbbt6"},
		},
		"labels": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n"},
			[]string{
				"top/kustomization.yaml:2: CloneSet web: spec.selector.matchLabels.a: labels do not reach the field, since kustomize does not know the kind",
				"top/kustomization.yaml:2: CloneSet web: spec.template.metadata.labels.a: labels do not reach the field, since kustomize does not know the kind",
			},
		},
		"the namespace of what has none": {
			map[string]string{"top/kustomization.yaml": "resources: [s.yaml]\nnamespace: shop\n", "top/s.yaml": "apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: s}\n"},
			nil,
		},
		"a patch without lists": {
			map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "top/p.yaml": "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {metadata: {annotations: {a: b}}}}\n"},
			nil,
		},
		"no object of Kruise": {layers, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := Files(t, with(shop, tc.tree))
			dir := filepath.Join(root, "top")
			if tc.tree["top/kustomization.yaml"] == "" {
				dir = filepath.Join(root, "over")
			}
			plain, stderr, err := kustomize.Run(t, dir, nil, "build", ".")
			if err != nil {
				t.Fatal(stderr)
			}
			got, err := kustomizationDir{Dir: dir, Root: root}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain, string(got.Text)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.want, places(root, got.Undecided)); diff != "" {
				t.Error(diff)
			}
			for _, e := range got.Undecided {
				if !strings.Contains(e.Hint, "schema kustomize") || !strings.Contains(e.Hint, "--kruise-schema") || strings.Contains(e.Error()+e.Hint, "hidden-value") {
					t.Errorf("%v: hint %q", e, e.Hint)
				}
			}
		})
	}
}

// TestKustomize_LeavesWhatIsDecided: the component, a schema of the kustomization and the flag decide.
func TestKustomize_LeavesWhatIsDecided(t *testing.T) {
	yes, no := true, false
	patch := map[string]string{"top/p.yaml": sidePatch}
	const plain = "resources: [../base]\npatches: [{path: p.yaml}]\nconfigMapGenerator: [{name: settings, literals: [a=b]}]\n"
	for name, tc := range map[string]struct {
		top    string
		schema *bool
		// kept is whether the container main is in the result, undecided how many places are not decided.
		kept      bool
		undecided int
	}{
		"nothing decides":                 {plain, nil, false, 1},
		"the flag, for it":                {plain, &yes, true, 0},
		"the flag, against it":            {plain, &no, false, 0},
		"the component":                   {plain + "components: [../kruise]\n", nil, true, 0},
		"the component, and the flag":     {plain + "components: [../kruise]\n", &no, true, 0},
		"a schema":                        {plain + "openapi: {path: schema.json}\n", nil, true, 0},
		"a schema of other kinds":         {plain + "openapi: {path: other.json}\n", nil, false, 1},
		"a configuration alone":           {plain + "configurations: [config.yaml]\n", nil, false, 1},
		"both documents, in the top one":  {plain + "openapi: {path: schema.json}\nconfigurations: [config.yaml]\n", nil, true, 0},
		"the component above a bad patch": {"resources: [../mid]\ncomponents: [../kruise]\n", nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			files := component(t)
			root := Files(t, with(shop, files, patch, map[string]string{
				"top/kustomization.yaml": tc.top,
				"top/schema.json":        files["kruise/kruise-schema.json"], "top/config.yaml": files["kruise/kruise-config.yaml"],
				"top/other.json":         `{"definitions": {"thing": {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}]}}}`,
				"mid/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "mid/p.yaml": sidePatch,
			}))
			dir := filepath.Join(root, "top")
			got, err := kustomizationDir{Dir: dir, Root: root, KruiseSchema: tc.schema}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tc.schema != &yes {
				want, stderr, err := kustomize.Run(t, dir, nil, "build", ".")
				if err != nil {
					t.Fatal(stderr)
				}
				if diff := cmp.Diff(want, string(got.Text)); diff != "" {
					t.Error(diff)
				}
			}
			if kept := strings.Contains(string(got.Text), "name: main"); kept != tc.kept {
				t.Errorf("main is there: %v", kept)
			}
			if len(got.Undecided) != tc.undecided {
				t.Errorf("undecided: %q", places(root, got.Undecided))
			}
		})
	}
}

// TestKustomize_SaysWhatABrokenBuildLacks: what fails because kustomize does not know a kind fails here, too.
func TestKustomize_SaysWhatABrokenBuildLacks(t *testing.T) {
	root := Files(t, with(shop, map[string]string{"top/kustomization.yaml": "resources: [../base]\nreplicas: [{name: web, count: 3}]\n"}))
	dir := filepath.Join(root, "top")
	_, err := kustomizationDir{Dir: dir, Root: root}.Build(t.Context())
	fault, ok := errors.AsType[*resource.Error](err)
	if !ok || !strings.Contains(fault.Hint, "--kruise-schema=true") {
		t.Fatalf("%v, hint %q", err, fault.Hint)
	}
	no := false
	_, err = kustomizationDir{Dir: dir, Root: root, KruiseSchema: &no}.Build(t.Context())
	if fault, ok := errors.AsType[*resource.Error](err); !ok || fault.Hint != "" {
		t.Errorf("decided: %v", err)
	}
}

// TestLoad_FailsWhereNothingDecides: what is undecided is a fault unless the caller takes it.
func TestLoad_FailsWhereNothingDecides(t *testing.T) {
	root := Files(t, with(shop, map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n", "top/p.yaml": sidePatch}))
	opt := Options{Kustomize: filepath.Join(root, "top"), Root: root}
	if _, err := Load(t.Context(), opt); !errors.Is(err, errUndecided) {
		t.Errorf("got %v", err)
	}
	var said []*resource.Error
	opt.Undecided = &said
	list, err := Load(t.Context(), opt)
	if err != nil || len(list) != 2 || len(said) != 1 {
		t.Errorf("%d objects, %d places, %v", len(list), len(said), err)
	}
}
