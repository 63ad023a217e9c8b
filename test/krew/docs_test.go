package krew

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/docrun"
)

// published is what pages call the repository of the index.
const published = "https://github.com/kubectl-kruise/krew-index.git"

// TestDocs_PrintWhatTheyShowWithKrew runs the pages of krew's users: what they get from GitHub comes from here.
func TestDocs_PrintWhatTheyShowWithKrew(t *testing.T) {
	pages, err := docrun.RunOn(checkout.Path(), docrun.Krew)
	if err != nil || len(pages) == 0 {
		t.Fatal(len(pages), err)
	}
	index := serve(t)
	for page := range pages {
		t.Run(page, func(t *testing.T) {
			h := newHome(t)
			docrun.Run(t, checkout.Path(page), docrun.Ground{Dir: h.dir, Env: h.reader(t, index)})
		})
	}
}

// serve serves a release, and returns the repository of an index that names it.
func serve(t *testing.T) string {
	t.Helper()
	return serveVersion(t, version)
}

func serveVersion(t *testing.T, version string) string {
	t.Helper()
	var files http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { files.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	dir, _ := releaseOf(t, version, server.URL)
	files = http.FileServer(http.Dir(dir))
	commit(t, dir, "kruise "+version)
	return dir
}

// reader is the environment of a user who does what a page says, with kubectl and krew;
// INDEX is the folder of the index.
func (h home) reader(t *testing.T, index string) []string {
	t.Helper()
	programs := filepath.Join(h.dir, "programs")
	if err := os.MkdirAll(programs, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"kubectl": h.kubectl, "kubectl-krew": tool(t, "krew")} {
		if err := os.Symlink(program, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := []string{programs, filepath.Join(h.root(), "bin"), os.Getenv("PATH")}
	return append(h.env(), "INDEX="+index, "PATH="+strings.Join(path, string(os.PathListSeparator)),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+index+".insteadOf", "GIT_CONFIG_VALUE_0="+published)
}

// serveFiles serves a folder, and returns its address.
func serveFiles(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL
}

// commit records the manifests of an index in its repository, which it makes at first.
func commit(t *testing.T, dir, message string) {
	t.Helper()
	h := newHome(t)
	h.git(t, dir, "init", "-q")
	h.git(t, dir, "add", "plugins")
	h.git(t, dir, "commit", "-q", "-m", message)
}
