package conformance

import (
	"archive/zip"
	"io/fs"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// DefinedReleases are the releases whose definitions came with the project; next is
// Kruise's main branch.
var DefinedReleases = []string{"1.5", "1.8", "1.9", "next"}

// Definitions returns the CustomResourceDefinitions of a release of Kruise, as YAML
// without prose, in the order of their names.
func Definitions(tb testing.TB, release string) [][]byte {
	tb.Helper()
	archive, err := zip.OpenReader(checkout.Path("testdata", "definitions", release+".zip"))
	if err != nil {
		tb.Fatalf("%v (hack/definitions.sh makes it)", err)
	}
	defer func() { _ = archive.Close() }()
	names, err := fs.Glob(archive, "*.yaml")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no definitions of %s: %v", release, err)
	}
	out := make([][]byte, len(names))
	for i, name := range names {
		if out[i], err = fs.ReadFile(archive, name); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}
