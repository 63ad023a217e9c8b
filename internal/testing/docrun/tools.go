package docrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
)

// Tools is a folder with those of the programs that make has built, and with nothing
// else of its folder: blocks that need another are left out.
func Tools(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		built := checkout.Path("bin", name)
		if _, err := os.Stat(built); err != nil {
			continue
		}
		if err := os.Symlink(built, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
