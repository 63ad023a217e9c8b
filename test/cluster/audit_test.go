package cluster

import (
	"os"
	"path/filepath"
	"strings"
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

// TestAuditOf_ReadsOn: a part of the log is read as it grows, a line once it is whole.
func TestAuditOf_ReadsOn(t *testing.T) {
	c := &Cluster{folder: &guard.Folder{Path: t.TempDir()}}
	line := func(verb, namespace string) string {
		return `{"verb":"` + verb + `","objectRef":{"resource":"pods","namespace":"` + namespace + `","name":"a"},"requestObject":{"metadata":{"namespace":"other"}}}` + "\n"
	}
	half := line("delete", "shop")
	text := ""
	for _, more := range []struct{ text, want string }{
		{line("create", "shop") + line("create", "other") + half[:60], "create"},
		{half[60:] + `{"verb":"create","requestURI":"/apis"}` + "\n", "create delete"},
		{"", "create delete"},
	} {
		text += more.text
		if err := os.WriteFile(filepath.Join(c.folder.Path, "audit.log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		events, err := c.AuditOf("shop")
		var got []string
		for i := range events {
			got = append(got, events[i].Verb)
		}
		if is := strings.Join(got, " "); err != nil || is != more.want {
			t.Errorf("%q, %v, want %q", is, err, more.want)
		}
	}
}
