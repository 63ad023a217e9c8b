package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
)

// several are n ConfigMaps, each with a value.
func several(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {a: b, c: c0, k0: {z: v}}\n", i)
	}
	return b.String()
}

// TestKustomize_BoundsProducts: what a kustomization puts into many objects is known before it is made, and
// left to a process with bounds where it is too much.
func TestKustomize_BoundsProducts(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var doubling, copying, keys strings.Builder
	for i := range 25 {
		fmt.Fprintf(&doubling, "- {source: {kind: ConfigMap, name: c0, fieldPath: data.k%d}, targets: [{select: {name: c0}, fieldPaths: [data.k%d.x, data.k%d.y], options: {create: true}}]}\n", i, i+1, i+1)
		fmt.Fprintf(&copying, "- {op: copy, from: /data, path: /data/k%d}\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&keys, "  key%04d: v\n", i)
	}
	patch := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n" + keys.String()
	// little fits into many objects once, and not a few times. It is one value, which is soon
	// merged.
	little := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {key: " + long[:40<<10] + "}\n"
	for name, c := range map[string]struct{ kustomization, file string }{
		"annotations":            {"commonAnnotations: {a: " + long + "}\n", ""},
		"labels":                 {"labels: [{pairs: {a: " + long + "}}]\n", ""},
		"a prefix":               {"namePrefix: " + long + "\n", ""},
		"a suffix":               {"nameSuffix: " + long + "\n", ""},
		"a namespace":            {"namespace: " + long + "\n", ""},
		"an image":               {"images: [{name: b, newName: " + long + "}]\n", ""},
		"a patch":                {"patches: [{path: file, target: {kind: ConfigMap}}]\n", patch},
		"a patch in place":       {"patches: [{target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: " + long + "}}'}]\n", ""},
		"a JSON patch":           {"patches: [{path: file, target: {kind: ConfigMap}}]\n", "- op: add\n  path: /data\n  value:\n  " + strings.ReplaceAll(keys.String(), "\n", "\n  ") + "\n"},
		"copies":                 {"patches: [{path: file, target: {kind: ConfigMap, name: c0}}]\n", copying.String()},
		"copies in place":        {"patches: [{target: {kind: ConfigMap, name: c0}, patch: '[{\"op\": \"c\\u006fpy\", \"from\": \"/data\", \"path\": \"/data/x\"}]'}]\n", ""},
		"a replacement":          {"replacements: [{sourceValue: " + long + ", targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a]}]}]\n", ""},
		"doubling replacements":  {"replacements:\n" + doubling.String(), ""},
		"doubling, from a file":  {"replacements: [{path: file}]\n", doubling.String()},
		"what refers to a name":  {"patches: [{target: {kind: ConfigMap, name: c0}, patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"" + long + "\"}]', options: {allowNameChange: true}}]\nresources: [pods.yaml]\n", ""},
		"many, of a little each": {"patches:\n" + strings.Repeat("- {path: file, target: {kind: ConfigMap}}\n", 300), little},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"kustomization.yaml": "resources: [a.yaml]\n" + c.kustomization, "a.yaml": several(1000), "file": c.file}
			if strings.Contains(c.kustomization, "pods.yaml") {
				files["kustomization.yaml"] = strings.Replace(c.kustomization, "[pods.yaml]", "[a.yaml, pods.yaml]", 1)
				files["pods.yaml"] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: a\n    envFrom:\n" + strings.Repeat("    - configMapRef: {name: c0}\n", 1000)
			}
			if _, err := linear.Build(filesys.MakeFsOnDisk(), Files(t, files), nil); !errors.Is(err, linear.ErrLarge) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestKustomize_BuildsLargeInAProcess: what may be too much is built by the other process, to the same
// bytes, where it is not.
func TestKustomize_BuildsLargeInAProcess(t *testing.T) {
	dir := Files(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\npatches: [{target: {name: c0}, patch: '[{\"op\": \"copy\", \"from\": \"/data/a\", \"path\": \"/data/d\"}]'}]\n",
		"a.yaml":             several(20),
	})
	if _, err := linear.Build(filesys.MakeFsOnDisk(), dir, nil); !errors.Is(err, linear.ErrLarge) {
		t.Fatalf("got %v", err)
	}
	got, err := Kustomize(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := linear.Unbounded(filesys.MakeFsOnDisk(), dir, nil)
	if err != nil || string(got) != string(want.Text) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestKustomize_BoundsBytesOfGenerators: files that generators put into objects are not held in this
// process beyond a bound.
func TestKustomize_BoundsBytesOfGenerators(t *testing.T) {
	dir := Files(t, map[string]string{"kustomization.yaml": "configMapGenerator:\n" + strings.Repeat("- {name: NAME, files: [f]}\n", 9)})
	kustomization, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		kustomization = []byte(strings.Replace(string(kustomization), "NAME", fmt.Sprint("c", i), 1))
	}
	for name, text := range map[string]string{"kustomization.yaml": string(kustomization), "f": strings.Repeat("x", 8<<20)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j, err := kustomizationDir{Dir: dir}.job()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.buildInProcess(t.Context()); !errors.Is(err, linear.ErrLarge) {
		t.Errorf("got %v", err)
	}
}
