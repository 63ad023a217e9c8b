package commands

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDiffFile_ComparesWithTheCluster: files are compared with the objects of the cluster as kubectl does, with its
// exit codes and its choice of a program, and nothing is written.
func TestDiffFile_ComparesWithTheCluster(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	file := filepath.Join(t.TempDir(), "web.yaml")
	must(t, os.WriteFile(file, []byte(cloneSet("web", "")), 0o600))
	b.call(t, "diff", "-f", file).prints(t)
	must(t, os.WriteFile(file, []byte(cloneSet("web", "minReadySeconds: 7")+"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh}, data: {a: b}}\n"), 0o600))
	for _, args := range [][]string{{"diff", "-f", file}, {"diff", "-f", file, "--server-side", "--force-conflicts"}, {"diff", "-k", kustomized(t, file)}} {
		b.call(t, args...).ends(t, 1, "/apps.kruise.io.v1beta1.CloneSet."+b.namespace+".web", "+  minReadySeconds: 7", "+  name: fresh")
	}
	b.call(t, "diff", "-f", file, "-l", "no=such").ends(t, 0)
	b.call(t, "diff", "-f", file+".none").ends(t, 2, "error: ", "does not exist")
	t.Run("another program", func(t *testing.T) {
		cmd := b.command(t, "diff", "-f", file)
		cmd.Env = append(cmd.Environ(), "KUBECTL_EXTERNAL_DIFF=ls -1")
		out, err := cmd.Output()
		if err != nil || string(out) == "" {
			t.Errorf("%v\n%s", err, out)
		}
	})
	b.call(t, "get", "configmap", "fresh").ends(t, 1, `"fresh" not found`)
}

// kustomized is a folder that builds a file.
func kustomized(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "web.yaml"), text, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [web.yaml]\n"), 0o600))
	return dir
}
