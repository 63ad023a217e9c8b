package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/docrun"
)

// asPlugin is kubectl as far as pages that need no cluster call it.
func asPlugin() {
	if len(os.Args) < 2 || os.Args[1] != "kruise" {
		os.Exit(127)
	}
	os.Args = append([]string{"kubectl-kruise"}, os.Args[2:]...)
	main()
}

// TestDocs_PrintWhatTheyShow runs the pages that need no cluster, each in a copy of the examples.
func TestDocs_PrintWhatTheyShow(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := docrun.RunOn(top, docrun.Files)
	if err != nil {
		t.Fatal(err)
	}
	for page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			// Readers are in a checkout, which bounds what kustomizations may read.
			if err := os.Mkdir(filepath.Join(work, ".git"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(work, os.DirFS(filepath.Join(top, "examples"))); err != nil {
				t.Fatal(err)
			}
			docrun.Run(t, filepath.Join(top, page), docrun.Ground{Dir: work, Env: alone(t)})
		})
	}
}

// alone is an environment without a cluster, and without the user's Git. CHECKOUT is the
// project's folder.
func alone(t *testing.T) []string {
	t.Helper()
	path := os.Getenv("PATH") + string(filepath.ListSeparator) + docrun.Tools(t, "kustomize")
	out := []string{"PATH=" + path, "CHECKOUT=" + checkout.Path(), "KUBECONFIG=/nonexistent/kubeconfig", "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		out = append(out, who+"_NAME=ada", who+"_EMAIL=ada@example.com")
	}
	return out
}
