package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/guard"
)

// TestAudit_ReadsWholeLines: a reader of the log sees whole lines while the server writes
// lines alone.
func TestAudit_ReadsWholeLines(t *testing.T) {
	c := &Cluster{folder: &guard.Folder{Path: t.TempDir()}}
	const whole, half = `{"verb": "patch"}` + "\n", `{"verb": "del`
	if err := os.WriteFile(filepath.Join(c.folder.Path, "audit.log"), []byte(whole+half), 0o600); err != nil {
		t.Fatal(err)
	}
	events, err := c.Audit()
	if err != nil || len(events) != 1 || events[0].Verb != "patch" {
		t.Errorf("%v, %v", events, err)
	}
}
