package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testProgram(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "kubectl-kruise")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// krew is a home where krew has installed the plugin kruise of its default index.
func krew(t *testing.T, version, homepage string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".krew", "receipts"), 0o750); err != nil {
		t.Fatal(err)
	}
	receipt := fmt.Sprintf("metadata: {name: kruise}\nspec: {version: %s, homepage: %q}\nstatus: {source: {name: default}}\n", version, homepage)
	if err := os.WriteFile(filepath.Join(home, ".krew", "receipts", "kruise.yaml"), []byte(receipt), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestClient_FindsThePluginWithoutRunningIt: which program kubectl runs is found without running it.
func TestClient_FindsThePluginWithoutRunningIt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, other, linked := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(own, "kubectl-kruise")); err != nil {
		t.Fatal(err)
	}
	stranger := testProgram(t, other)
	if err := os.Symlink(filepath.Join(own, "kubectl-kruise"), filepath.Join(linked, "kubectl-kruise")); err != nil {
		t.Fatal(err)
	}
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "kubectl-kruise"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path []string
		home string
		want []string
	}{
		"ours":             {[]string{own}, "", []string{"ok kubectl runs " + own}},
		"twice the same":   {[]string{own, linked, plain}, "", []string{"ok kubectl runs " + own}},
		"another one last": {[]string{own, other}, "", []string{"warn " + stranger + " is on the PATH, too: another program", "ok kubectl runs " + own}},
		"another one runs": {[]string{other, own}, "", []string{"warn kubectl runs " + stranger + ", which is another program"}},
		"none":             {[]string{plain, "/nonexistent"}, "", []string{"warn kubectl finds no plugin"}},

		"ours in krew": {[]string{own}, krew(t, "v1.2.0", "https://github.com/kubectl-kruise/kubectl-kruise"), []string{"ok kubectl runs " + own, "ok krew has installed kruise v1.2.0 of the index default"}},
		"the older in krew": {
			[]string{own},
			krew(t, "v1.1.2", "https://github.com/openkruise/kruise-tools"),
			[]string{"ok kubectl runs " + own, "warn krew has installed kruise v1.1.2 of the index default, which is the older plugin"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"PATH": strings.Join(c.path, string(os.PathListSeparator)), "HOME": c.home}
			lines := clientLines(func(name string) string { return env[name] })[1:]
			if len(lines) != len(c.want) {
				t.Fatalf("%+v", lines)
			}
			for i, l := range lines {
				if !strings.HasPrefix(string(l.Status)+" "+l.Text, c.want[i]) || (l.Status != okVerdict) != (l.Hint != "") {
					t.Errorf("%+v, want %s", l, c.want[i])
				}
			}
		})
	}
}
