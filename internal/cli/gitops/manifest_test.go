package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const manifest = `# the shop's front
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
spec:
  replicas: 3
  updateStrategy:
    rollingUpdate:
      partition: 50% # moved by the pipeline
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      # what customers see
      - name: main
        image: web:1 # by the release train
        args: ["--port", "80"]
      - name: log
        image: log:1
---
# the door
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
`

var web = cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "shop", Name: "web"}

func parsed(t *testing.T, text string) *tree.Node {
	t.Helper()
	list, err := load.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list[0].Node()
}

// live is the object as a server has it, with its defaults.
const live = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      dnsPolicy: ClusterFirst
      containers:
      - {name: main, image: "web:1", imagePullPolicy: Always, args: ["--port", "80"]}
      - {name: log, image: "log:1", imagePullPolicy: Always}
`

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrite(t *testing.T) {
	zero := tree.Int64(0)
	for name, c := range map[string]struct {
		change    [2]string // what becomes of live
		partition *tree.Node
		want      []string // pairs: what becomes of the manifest
	}{
		"an image":       {[2]string{"web:1", "web:2"}, zero, []string{"web:1 #", "web:2 #", "50% #", "0 #"}},
		"no partition":   {[2]string{"web:1", "web:2"}, nil, []string{"web:1 #", "web:2 #", "50% #", "0 #"}},
		"it stays there": {[2]string{"web:1", "web:2"}, tree.String("50%"), []string{"web:1 #", "web:2 #"}},
		"a new variable": {
			[2]string{`image: "log:1",`, `image: "log:1", env: [{name: A, value: b}],`},
			zero,
			[]string{"image: log:1\n", "image: log:1\n        env:\n        - name: A\n          value: b\n", "50% #", "0 #"},
		},
		"a container less":   {[2]string{`      - {name: log, image: "log:1", imagePullPolicy: Always}` + "\n", ""}, zero, []string{"      - name: log\n        image: log:1\n", "", "50% #", "0 #"}},
		"other arguments":    {[2]string{`"80"]`, `"81"]`}, zero, []string{`"80"]`, `"81"]`, "50% #", "0 #"}},
		"an annotation more": {[2]string{"{labels: {app: web}}", "{labels: {app: web}, annotations: {a: b}}"}, zero, []string{"labels: {app: web}\n", "labels: {app: web}\n      annotations:\n        a: b\n", "50% #", "0 #"}},
	} {
		path := file(t, manifest)
		m, err := FindManifest(path, web)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		changed, err := m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, c.change[0], c.change[1], 1)), c.partition})
		if err != nil || len(changed) == 0 {
			t.Fatalf("%s: %v, %v", name, changed, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.NewReplacer(c.want...).Replace(manifest), string(got)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

// TestWrite_KeepsQuotes: a value stays in the quotes that it has in the file.
func TestWrite_KeepsQuotes(t *testing.T) {
	const text = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1"}, {name: log, image: 'log:1'}]}
`
	path := file(t, text)
	m, err := FindManifest(path, web)
	if err != nil {
		t.Fatal(err)
	}
	after := strings.NewReplacer("web:1", "web:2", "log:1", "log:2")
	if _, err := m.Write(ManifestChange{parsed(t, live), parsed(t, after.Replace(live)), nil}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if diff := cmp.Diff(after.Replace(text), string(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestWrite_LeavesAnUpToDateManifestUntouched: a manifest that says it all stays untouched.
func TestWrite_LeavesAnUpToDateManifestUntouched(t *testing.T) {
	path := file(t, strings.Replace(manifest, "50%", "0", 1))
	m, err := FindManifest(path, web)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if changed, err := m.Write(ManifestChange{parsed(t, live), parsed(t, live), tree.Int64(0)}); err != nil || len(changed) > 0 {
		t.Errorf("%v, %v", changed, err)
	}
}

func TestFind_ReportsAMissingObject(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"there":          {manifest, ""},
		"not there":      {strings.Replace(manifest, "name: web", "name: api", 1), "holds no manifest of cloneset/web"},
		"another's":      {strings.Replace(manifest, "  name: web", "  name: web\n  namespace: lab", 1), "holds no manifest of cloneset/web"},
		"a List":         {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(strings.Split(manifest, "---")[0]), "\n", "\n  "), ""},
		"not a manifest": {"a: [", "web.yaml"},
	} {
		path := file(t, c.text)
		_, err := FindManifest(path, web)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := FindManifest(filepath.Dir(path), web); c.want == "" && (err != nil || m.Path != path) {
			t.Errorf("%s: in the directory: %v", name, err)
		}
	}
	path := file(t, manifest)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "old.yml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindManifest(filepath.Dir(path), web); err == nil || !strings.Contains(err.Error(), "is in ") {
		t.Errorf("two: %v", err)
	}
	if _, err := FindManifest(filepath.Join(t.TempDir(), "none.yaml"), web); err == nil {
		t.Error("there is no such file")
	}
}

// TestWrite_RefusesAFileThatChanged: what another program has written since the file was read stays.
func TestWrite_RefusesAFileThatChanged(t *testing.T) {
	path := file(t, manifest)
	m, err := FindManifest(path, web)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(manifest, "port: 80}", "port: 81}", 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, "web:1", "web:2", 1)), nil})
	if err == nil || !strings.Contains(err.Error(), "nothing is written") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != edited {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestWrite_KeepsTheMode: a file that only its owner may read stays so, typed or found in a folder.
func TestWrite_KeepsTheMode(t *testing.T) {
	for _, typed := range []bool{true, false} {
		path := file(t, manifest)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		named := path
		if !typed {
			named = filepath.Dir(path)
		}
		m, err := FindManifest(named, web)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, "web:1", "web:2", 1)), nil}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("typed %v: %v %v", typed, info.Mode(), err)
		}
	}
}
