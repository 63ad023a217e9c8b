//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFiles_ThatArePipesOrDevicesAreRefused: wherever a person names a file, nothing waits for the other
// end of a pipe or reads a device to its end, and what is too large is not read.
func TestFiles_ThatArePipesOrDevicesAreRefused(t *testing.T) {
	workload := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(workload, []byte("apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: web:1}]}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	built := t.TempDir()
	if err := os.WriteFile(filepath.Join(built, "kustomization.yaml"), []byte("resources: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, c := range map[string]struct {
		at   func(path string) error
		want string
	}{
		"device": {func(path string) error { return os.Symlink("/dev/zero", path) }, "is no regular file"},
		"pipe":   {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is no regular file"},
		"large": {func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 300<<20)
		}, "is larger than 256 MiB"},
		"folder": {func(path string) error { return os.Mkdir(path, 0o700) }, "is a directory"},
	} {
		path := filepath.Join(t.TempDir(), "it")
		if err := c.at(path); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"simulate", path},
			{"rollout", "apply", path},
			{"plan", "cloneset/web", "--against", workload, "--image", "app=web:2", "--strategy", path},
			{"doctor", "kustomize", built, "--built", path},
		} {
			code, _, errOut := call(t.Context(), t, "", args...)
			if code == exitDone || !strings.Contains(errOut, c.want) {
				t.Errorf("%s: %v: exit %d: %s", kind, args, code, errOut)
			}
		}
	}
}
