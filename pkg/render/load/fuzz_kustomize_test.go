package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzKustomize: no kustomization and no manifest below it makes kustomize panic here, or
// read what is beside the folder.
func FuzzKustomize(f *testing.F) {
	const end = "\x1e"
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"
	texts := []string{
		"resources: [a.yaml]\nnamePrefix: x-\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n",
		"resources: [a.yaml]\npatches: [{patch: '[{op: add, path: /data/x, value: y}]', target: {kind: ConfigMap, name: 'a.*'}}]\n",
		"resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, fieldPath: data.a}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b, 'spec.[a=b].c'], options: {create: true}}]}]\n",
		"secretGenerator: [{name: s, files: [a.yaml, x=../beside/secret], envs: [../beside/secret], literals: ['a=b']}]\n",
		"configMapGenerator: [{name: s, behavior: merge, files: ['=']}]\nimages: [{name: a, newTag: '1'}]\nreplicas: [{name: a, count: -1}]\n",
		"resources: [../beside, /etc/passwd, a.yaml]\ncomponents: [.]\ncrds: [a.yaml]\nopenapi: {path: ../beside/secret}\n",
		"resources: [a.yaml]\ntransformers: [a.yaml]\ngenerators: [a.yaml]\nvalidators: [a.yaml]\n",
		"vars: [{name: A, objref: {kind: ConfigMap, name: a, apiVersion: v1}}]\nresources: [a.yaml]\nsortOptions: {order: legacy}\nhelmCharts: [{name: x}]\n",
	}
	const secret = "not-for-strangers"
	dir := f.TempDir()
	write := func(tb testing.TB, path, text string) {
		tb.Helper()
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			tb.Fatal(err)
		}
	}
	write(f, "beside/secret", secret)
	for i := range texts {
		texts[i] += end + object
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		text, manifest, _ := strings.Cut(both, end)
		write(t, "in/kustomization.yaml", text)
		write(t, "in/a.yaml", manifest)
		out, err := builtHere(t, filepath.Join(dir, "in"))
		if strings.Contains(out, secret) {
			t.Errorf("what is beside the folder was read:\n%s", out)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Error(err)
		}
	})
}

// builtHere builds a kustomization as Load does, but in this process what it has an isolated one do.
func builtHere(t *testing.T, dir string) (string, error) {
	t.Helper()
	j, err := kustomizationDir{Dir: dir}.job()
	if err != nil {
		return "", err
	}
	out, _, err := j.buildInProcess(t.Context())
	if !errors.Is(err, errUnfit) {
		return string(out.Text), err
	}
	request, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var answer bytes.Buffer
	if err := serve(request, &answer); err != nil {
		t.Fatal(err)
	}
	out, err = readAnswer(answer.Bytes())
	return string(out.Text), err
}
