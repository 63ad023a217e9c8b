package planning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzApprovals: whatever the notes of approvals hold, a digest counts only where a whole note
// has it.
func FuzzApprovals(f *testing.F) {
	path := filepath.Join(f.TempDir(), "approvals")
	texts := []string{"{\"digest\":\"sha256:a\",\"target\":\"cloneset/web\",\"at\":\"2026-01-02T15:04:05Z\"}\n\n{\"digest\":\"sha256:b\"}\n", "{\n[]\n{\"digest\":\"\"}\n"}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		notes, err := readApprovals(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range notes {
			if n.Digest == "" || strings.HasPrefix(n.Digest, "sha256:") && !strings.Contains(text, n.Digest) {
				t.Errorf("%+v", n)
			}
		}
	})
}
