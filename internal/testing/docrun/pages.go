package docrun

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Grounds on which pages are run, each by a test of its own.
const (
	// Files is a copy of the examples, without a cluster.
	Files = "files"
	// Cluster is a control plane with Kruise's kinds; behind it the page names the
	// namespace that its commands mean.
	Cluster = "cluster, namespace "
	// Kustomize is the test of the KRM function, which lays out the files that the page
	// shows.
	Kustomize = "kustomize"
	// Krew is a user's home in which kubectl and krew are installed, in front of a
	// release that is not published.
	Krew = "krew"
)

// elsewhere are folders whose pages are input of tests, or were written by the program:
// the reference, whose examples a test of the command line reads, and the sequences of
// patches in the folders of examples.
var elsewhere = []string{".git", "bin", "out", "dist", "testdata", "reference", "binaries", "patches"}

// Pages are the Markdown pages below a folder.
func Pages(top string) ([]string, error) {
	var out []string
	err := fs.WalkDir(os.DirFS(top), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains(elsewhere, e.Name()):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// RunOn are the pages that say that they are run on a ground, with what they add to it.
func RunOn(top, ground string) (map[string]string, error) {
	pages, err := Pages(top)
	out := map[string]string{}
	for _, page := range pages {
		blocks, err := read(filepath.Join(top, page))
		if err != nil {
			return nil, err
		}
		if more, ok := strings.CutPrefix(where(blocks), ground); ok {
			out[page] = more
		}
	}
	return out, err
}

// where reports where a page is run, "" if nowhere.
func where(blocks []Block) string {
	for _, b := range blocks {
		if b.Kind == On {
			return b.Text
		}
	}
	return ""
}
