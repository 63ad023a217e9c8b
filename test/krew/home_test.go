package krew

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/build"
)

// home is a user's, with a krew of its own.
type home struct{ dir, kubectl string }

func newHome(t *testing.T) home {
	t.Helper()
	servers, err := build.Ensure(t.Context(), build.Control, "", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return home{dir: t.TempDir(), kubectl: filepath.Join(servers, "kubectl")}
}

// root is krew's folder.
func (h home) root() string { return filepath.Join(h.dir, ".krew") }

// link is what krew puts on the PATH.
func (h home) link() string { return filepath.Join(h.root(), "bin", "kubectl-kruise") }

// run runs a program in this home; what it says on both streams.
func (h home) run(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = h.dir, h.env()
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// env is all that programs see in this home.
func (h home) env() []string {
	return []string{
		"HOME=" + h.dir, "KREW_ROOT=" + h.root(), "KREW_NO_UPGRADE_CHECK=1",
		"PATH=" + filepath.Join(h.root(), "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"KUBECONFIG=" + filepath.Join(h.dir, "none"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
	}
}

func (h home) must(t *testing.T, program string, args ...string) string {
	t.Helper()
	said, err := h.run(program, args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, said)
	}
	return said
}

func (h home) krew(t *testing.T, args ...string) string {
	t.Helper()
	return h.must(t, tool(t, "krew"), args...)
}

func (h home) git(t *testing.T, dir string, args ...string) {
	t.Helper()
	h.must(t, "git", append([]string{"-C", dir}, args...)...)
}

// works: kubectl finds the plugin without a complaint, it answers, and its licence is there.
func (h home) works(t *testing.T) {
	t.Helper()
	h.worksAs(t, version)
}

func (h home) worksAs(t *testing.T, version string) {
	t.Helper()
	if said := h.must(t, h.kubectl, "kruise", "version"); !strings.HasPrefix(said, "kubectl-kruise ") {
		t.Errorf("kubectl kruise version: %s", said)
	}
	if said := h.must(t, h.kubectl, "plugin", "list"); !strings.Contains(said, h.link()) {
		t.Errorf("kubectl plugin list: %s", said)
	}
	store, err := filepath.EvalSymlinks(h.link())
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(store) != filepath.Join(h.root(), "store", "kruise", version) {
		t.Errorf("the plugin is %s", store)
	}
	for _, file := range []string{"LICENSE", "THIRD-PARTY-LICENSES", "kubectl_complete-kruise"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(store), file)); err != nil {
			t.Error(err)
		}
	}
}
