package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// interrupting is a stream on which the first line is an interruption.
type interrupting struct {
	cancel context.CancelFunc
	said   *bytes.Buffer
}

func (i interrupting) Write(p []byte) (int, error) {
	i.cancel()
	return i.said.Write(p)
}

// TestRender_InterruptedWritesNothing: an interruption after the objects are read leaves no output at
// all, on stdout or in a directory, and ends with 130.
func TestRender_InterruptedWritesNothing(t *testing.T) {
	input := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(input, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"", "-o json", "--out DIR"} {
		dir := filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithCancel(t.Context())
		var out, said bytes.Buffer
		line := "kubectl-kruise render -f " + input + " " + strings.ReplaceAll(flags, "DIR", dir)
		code := Main(ctx, strings.Fields(line), factory.Streams{
			In: strings.NewReader(""), Out: &out, Err: interrupting{cancel, &said},
		})
		if !strings.HasSuffix(said.String(), "\ninterrupted\n") {
			t.Errorf("%s: said %q", flags, said.String())
		}
		if _, err := os.Stat(dir); code != 130 || out.Len() > 0 || !os.IsNotExist(err) {
			t.Errorf("%s: exit code %d, %v\n%s", flags, code, err, out.String())
		}
	}
}

// TestInterrupted_IsReportedOnce: commands on files that are interrupted while they read say so in
// one word, however many files there are.
func TestInterrupted_IsReportedOnce(t *testing.T) {
	input := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(input, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{
		"render -f IN", "lint -f IN", "lint -f IN --against IN --with IN", "diff IN IN", "diff IN IN --with IN --rendered", "convert -f IN --to native --with IN",
		"convert -f IN --to-version v1beta1", "plan -f IN --against IN", "simulate -f IN --against IN", "explain inplace IN IN", "render -f IN --against IN --with IN --patches-dir DIR",
	} {
		dir := filepath.Join(t.TempDir(), "out")
		code, out, said := call(ctx, t, "", strings.Fields(strings.NewReplacer("IN", input, "DIR", dir).Replace(line))...)
		if code != 130 || out != "" || said != "interrupted\n" {
			t.Errorf("%s: exit code %d, said %q\n%s", line, code, said, out)
		}
	}
}
