package load_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// FuzzKustomize: no kustomization and no manifest below it makes kustomize panic here, or
// read what is beside the folder.
func FuzzKustomize(f *testing.F) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"
	for _, text := range []string{
		"resources: [a.yaml]\nnamePrefix: x-\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n",
		"resources: [a.yaml]\npatches: [{patch: '[{op: add, path: /data/x, value: y}]', target: {kind: ConfigMap, name: 'a.*'}}]\n",
		"resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, fieldPath: data.a}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b, 'spec.[a=b].c'], options: {create: true}}]}]\n",
		"secretGenerator: [{name: s, files: [a.yaml, x=../beside/secret], envs: [../beside/secret], literals: ['a=b']}]\n",
		"configMapGenerator: [{name: s, behavior: merge, files: ['=']}]\nimages: [{name: a, newTag: '1'}]\nreplicas: [{name: a, count: -1}]\n",
		"resources: [../beside, /etc/passwd, a.yaml]\ncomponents: [.]\ncrds: [a.yaml]\nopenapi: {path: ../beside/secret}\n",
		"resources: [a.yaml]\ntransformers: [a.yaml]\ngenerators: [a.yaml]\nvalidators: [a.yaml]\n",
		"vars: [{name: A, objref: {kind: ConfigMap, name: a, apiVersion: v1}}]\nresources: [a.yaml]\nsortOptions: {order: legacy}\nhelmCharts: [{name: x}]\n",
	} {
		f.Add(text, object)
	}
	f.Fuzz(func(t *testing.T, text, manifest string) {
		const secret = "not-for-strangers"
		dir := t.TempDir()
		for path, content := range map[string]string{"beside/secret": secret, "in/kustomization.yaml": text, "in/a.yaml": manifest} {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		objects, err := load.Load(t.Context(), load.Options{Kustomize: filepath.Join(dir, "in")})
		for _, r := range objects {
			if strings.Contains(string(r.Raw()), secret) {
				t.Errorf("what is beside the folder was read:\n%s", r.Raw())
			}
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Error(err)
		}
	})
}
