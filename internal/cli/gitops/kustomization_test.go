package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const listed = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap   # spaces stay
  metadata: {name: web}
- apiVersion: apps.kruise.io/v1beta1
  kind: CloneSet
  metadata: {name: web, namespace: shop}
  spec:
    updateStrategy: {rollingUpdate: {partition: 50%}} # moved
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main,   image: "web:1"}, {name: log, image: log:1}]}
`

// TestWriteKustomization_ChangesOnlyValues checks Lists, and lines that no encoder would write.
func TestWriteKustomization_ChangesOnlyValues(t *testing.T) {
	list := strings.NewReplacer("web:1", "web:2", "50%", "0")
	for name, c := range map[string]struct{ file, text, want string }{
		"List":       {"a.yaml", listed, list.Replace(listed)},
		"odd spaces": {"a.yaml", strings.ReplaceAll(manifest, "kind: ", "kind:   "), list.Replace(strings.ReplaceAll(manifest, "kind: ", "kind:   "))},
		"letters":    {"a.yaml", strings.Replace(listed, `{name: main,   image`, `{name: main, command: ["é", "→"], image`, 1), list.Replace(strings.Replace(listed, `{name: main,   image`, `{name: main, command: ["é", "→"], image`, 1))},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := FindManifest(path, web)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, "web:1", "web:2", 1)), tree.Int64(0)}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := os.ReadFile(path)
		if diff := cmp.Diff(c.want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestWrite_RefusesWhatCannotBeWritten: what a List and JSON cannot take is refused before anything is rolled out.
func TestWrite_RefusesWhatCannotBeWritten(t *testing.T) {
	json := filepath.Join(t.TempDir(), "web.json")
	if err := os.WriteFile(json, []byte(`{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "metadata": {"name": "web"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file(t, listed), json} {
		m, err := FindManifest(path, web)
		if err != nil {
			t.Fatal(err)
		}
		more := strings.Replace(live, `image: "log:1",`, `image: "log:1", env: [{name: A, value: b}],`, 1)
		if err := m.Check(ManifestChange{parsed(t, live), parsed(t, more), nil}); err == nil || !strings.Contains(err.Error(), "without changing more") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// tree of a base and an overlay, each as a user wrote it.
const overlay = `
-- base/kustomization.yaml --
resources: [web.yaml] # one
-- base/web.yaml --
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  updateStrategy: {rollingUpdate: {partition: 1}}
  template:
    metadata: {labels: {app: web}}
    spec:
      dnsPolicy: ClusterFirst
      containers:
      - {name: main, image: "web:0"} # a placeholder
      - {name: log, image: "log:0"}
-- prod/kustomization.yaml --
namePrefix: the-
resources:
  - ../base
images:
  # the release train
  - name: web
    newTag: "1" # moves
patches:
  - path: log.yaml
  - target: {kind: Service}
    path: other.yaml
-- prod/log.yaml --
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  updateStrategy: {rollingUpdate: {partition: 50%}} # pace
  template:
    spec:
      containers:
      - name: log
        image: log:1 # pinned
-- prod/other.yaml --
apiVersion: v1
kind: Service
metadata: {name: any}
`

// unpacked is a Git work tree with these files.
func unpacked(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(files)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFind_StaysInside: what the files of a work tree name is neither read nor written to
// outside of it, by whichever way, and a pipe is not waited for.
func TestFind_StaysInside(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "web.yaml")
	if err := os.WriteFile(victim, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	patch := filepath.Join(outside, "patch.yaml")
	if err := os.WriteFile(patch, []byte("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	otherFile := "-- other.yaml --\n" + strings.ReplaceAll(manifest, "name: web", "name: other")
	for name, c := range map[string]struct{ files, link, to, want string }{
		"a resource by dots":      {"-- kustomization.yaml --\nresources: [../../../../../../.." + victim + "]\n", "", "", "leads out of the root"},
		"a resource by a link":    {"-- kustomization.yaml --\nresources: [web.yaml]\n", "web.yaml", victim, "leads out of the root"},
		"a base by a link":        {"-- kustomization.yaml --\nresources: [base]\n", "base", outside, "leads out of the root"},
		"a patch":                 {"-- kustomization.yaml --\nresources: [in.yaml]\npatches: [{path: p.yaml}]\n-- in.yaml --\n" + manifest, "p.yaml", patch, "leads out of the root"},
		"a file of a folder":      {otherFile, "web.yaml", victim, "holds no manifest"},
		"a folder within it":      {otherFile, "more", outside, "holds no manifest"},
		"a link that stays there": {"-- kustomization.yaml --\nresources: [link.yaml]\n-- in.yaml --\n" + manifest, "link.yaml", "in.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpacked(t, c.files)
			if c.link != "" {
				if err := os.Symlink(c.to, filepath.Join(dir, c.link)); err != nil {
					t.Skip(err)
				}
			}
			m, err := FindManifest(dir, web)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err = m.Write(ManifestChange{parsed(t, live), parsed(t, strings.Replace(live, "web:1", "web:2", 1)), nil}); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(filepath.Join(dir, "in.yaml")); err != nil || !strings.Contains(string(got), "web:2") {
					t.Errorf("%v\n%s", err, got)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestWrite_ChangesTheKustomization(t *testing.T) {
	inlined := strings.NewReplacer("  - path: log.yaml\n", `  - patch: |-
      apiVersion: apps.kruise.io/v1beta1
      kind: CloneSet
      metadata:
        name: web
      spec:
        template:
          spec:
            containers:
            - name: log
              image: log:1
`).Replace(overlay)
	const digest = "sha256:0123456789012345678901234567890123456789012345678901234567890123"
	for name, c := range map[string]struct {
		files  string
		change []string // pairs: what becomes of live
		want   []string // pairs: what becomes of the files
	}{
		"an image of images":   {overlay, []string{"web:1", "web:2"}, []string{`newTag: "1"`, `newTag: "2"`, "50%", "0"}},
		"an image of a patch":  {overlay, []string{"log:1", "log:2"}, []string{"log:1 #", "log:2 #", "50%", "0"}},
		"both":                 {overlay, []string{"log:1", "log:2", "web:1", "web:2"}, []string{`newTag: "1"`, `newTag: "2"`, "log:1 #", "log:2 #", "50%", "0"}},
		"a field of the base":  {overlay, []string{"dnsPolicy: ClusterFirst", "dnsPolicy: Default"}, []string{"dnsPolicy: ClusterFirst", "dnsPolicy: Default", "50%", "0"}},
		"another repository":   {overlay, []string{"web:1", "example.com:5000/web:2"}, []string{"    newTag: \"1\" # moves\n", "    newTag: \"2\" # moves\n    newName: example.com:5000/web\n", "50%", "0"}},
		"a digest":             {overlay, []string{"web:1", "web@" + digest}, []string{"    newTag: \"1\" # moves\n", "    digest: " + digest + "\n", "50%", "0"}},
		"a patch in its place": {inlined, []string{"log:1", "log:2"}, []string{"log:1\n", "log:2\n", "partition: 1", "partition: 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpacked(t, c.files)
			object := web
			object.Name = "the-web"
			m, err := FindManifest(filepath.Join(dir, "prod"), object)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Write(ManifestChange{parsed(t, live), parsed(t, strings.NewReplacer(c.change...).Replace(live)), tree.Int64(0)}); err != nil {
				t.Fatal(err)
			}
			for _, f := range txtar.Parse([]byte(strings.NewReplacer(c.want...).Replace(c.files))).Files {
				got, err := os.ReadFile(filepath.Join(dir, f.Name))
				if diff := cmp.Diff(string(f.Data), string(got)); err != nil || diff != "" {
					t.Errorf("%s: %v\n%s", f.Name, err, diff)
				}
			}
		})
	}
}
