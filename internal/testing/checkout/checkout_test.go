package checkout

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTop(t *testing.T) {
	t.Chdir(t.TempDir()) // where the process is now does not matter
	if _, err := os.Stat(Path("internal", "testing", "checkout", "checkout_test.go")); err != nil {
		t.Error(err)
	}
}

func TestTop_OfANestedModule(t *testing.T) {
	if got, err := top(Path("test", "cluster"), nil); err != nil || got != Path() {
		t.Errorf("from the module of the tests: %s, %v; want %s", got, err, Path())
	}
}

func TestTop_OutsideOfACheckout(t *testing.T) {
	if got, err := top(filepath.Join(t.TempDir(), "gone"), nil); err == nil {
		t.Errorf("found %s outside of any checkout", got)
	}
}
