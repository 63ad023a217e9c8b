package version_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
)

// olderProgram builds a program of the older plugin's module.
func olderProgram(t *testing.T, dir string) string {
	t.Helper()
	source, file := t.TempDir(), filepath.Join(dir, "kubectl-kruise")
	for name, text := range map[string]string{
		"go.mod": "module github.com/openkruise/kruise-tools\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// receipt is what krew writes when it has installed a plugin.
func receipt(t *testing.T, root, version, homepage, index string) {
	t.Helper()
	text := `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {creationTimestamp: "2026-05-01T12:00:00Z", name: kruise}
spec:
  homepage: ` + homepage + `
  platforms: []
  shortDescription: Easily handle OpenKruise workloads
  version: ` + version + `
status: {source: {name: ` + index + `}}
`
	if err := os.MkdirAll(filepath.Join(root, "receipts"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "receipts", "kruise.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestWarnings_OlderPluginOnPath(t *testing.T) {
	byHand, root := filepath.Join(t.TempDir(), "bin"), t.TempDir()
	file := olderProgram(t, byHand)
	inKrew := filepath.Join(root, "bin", "kubectl-kruise")
	if err := os.MkdirAll(filepath.Dir(inKrew), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, inKrew); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := os.Symlink(self, filepath.Join(own, "kubectl-kruise")); err != nil {
		t.Fatal(err)
	}
	receipt(t, root, "v1.1.2", "https://github.com/openkruise/kruise-tools", "default")

	for name, c := range map[string]struct {
		path []string
		root string
		want []string
	}{
		"installed by hand":           {[]string{byHand, own}, "", []string{"kubectl runs " + file + ", which is the older plugin => delete " + file}},
		"installed by krew":           {[]string{filepath.Join(root, "bin"), own}, root, []string{"kubectl runs " + inKrew + ", which is the older plugin => kubectl krew uninstall kruise && "}},
		"in krew's store only":        {[]string{own}, root, []string{"krew has installed kruise v1.1.2 of the index default, which is the older plugin => kubectl krew uninstall kruise && "}},
		"behind this program on PATH": {[]string{own, byHand}, "", nil},
		"nowhere":                     {[]string{own}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			have := version.Warnings(environment(map[string]string{
				"PATH": strings.Join(c.path, string(os.PathListSeparator)), "KREW_ROOT": c.root, "HOME": t.TempDir(),
			}))
			if len(have) != len(c.want) {
				t.Fatalf("%+v", have)
			}
			for i, w := range have {
				text, hint, _ := strings.Cut(c.want[i], " => ")
				if !strings.HasPrefix(w.Text, text) || !strings.HasPrefix(w.Hint, hint) || !strings.Contains(w.Hint, "work in this one") {
					t.Errorf("%+v; want %s", w, c.want[i])
				}
			}
		})
	}
}

func TestInKrew(t *testing.T) {
	home := t.TempDir()
	env := environment(map[string]string{"HOME": home})
	if r, ok := version.InKrew(env); ok {
		t.Errorf("no krew, but %v", r)
	}
	receipt(t, filepath.Join(home, ".krew"), "v1.2.0", "https://github.com/kubectl-kruise/kubectl-kruise", "kruise")
	r, ok := version.InKrew(env)
	want := version.Receipt{Version: "v1.2.0", Index: "kruise", Homepage: "https://github.com/kubectl-kruise/kubectl-kruise"}
	if diff := cmp.Diff(want, r); !ok || diff != "" || !r.Own() || r.Older() {
		t.Error(ok, diff)
	}
	if err := os.WriteFile(filepath.Join(home, ".krew", "receipts", "kruise.yaml"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, ok := version.InKrew(env); ok {
		t.Errorf("no receipt, but %v", r)
	}
}
