package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A repository can hold links to devices; none is read, wherever kustomize would.
func TestKustomizeReadsNoDevice(t *testing.T) {
	for name, text := range map[string]string{
		"kustomization.yaml": "",
		"resource":           "resources: [it]\n",
		"generator file":     "configMapGenerator:\n- {name: a, files: [it]}\n",
		"key and file":       "secretGenerator:\n- {name: a, files: [key=it]}\n",
		"variables":          "configMapGenerator:\n- {name: a, envs: [it]}\n",
		"patch":              "patches:\n- {path: it}\n",
		"transformer":        "transformers: [it]\n",
		"schema":             "openapi: {path: it}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir, link := t.TempDir(), "it"
			if text == "" {
				link = "kustomization.yaml"
			} else if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/dev/zero", filepath.Join(dir, link)); err != nil {
				t.Skip(err)
			}
			if _, err := Kustomize(dir); err == nil || !strings.Contains(err.Error(), link+": is no regular file") {
				t.Errorf("%v, want a fault of %s", err, link)
			}
		})
	}
}

func TestKustomizeReadsNoHugeFile(t *testing.T) {
	dir := Files(t, map[string]string{"kustomization.yaml": "configMapGenerator:\n- {name: a, files: [big]}\n", "big": ""})
	if err := os.Truncate(filepath.Join(dir, "big"), DefaultMaxFileBytes+1); err != nil {
		t.Skip(err)
	}
	if _, err := Kustomize(dir); err == nil || !strings.Contains(err.Error(), "big: is larger than 256 MiB") {
		t.Errorf("%v, want a fault of its size", err)
	}
}
