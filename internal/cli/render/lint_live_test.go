package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestLive_RefusesFlagsOfFiles: what goes with files alone is refused before a cluster is asked.
func TestLive_RefusesFlagsOfFiles(t *testing.T) {
	for args, want := range map[string]string{
		"-A":                           "-A and -l go with --live",
		"-f x.yaml -l app=web":         "-A and -l go with --live",
		"--live -f x.yaml":             "--live excludes -f",
		"--live --with x.yaml":         "--live excludes -f",
		"--live -k .":                  "--live excludes -f",
		"--live --operation delete":    "--live excludes --operation",
		"--live --complete":            "--live excludes --operation",
		"--live -l a!b":                "--selector",
		"--live -o x":                  "--output",
		"--live --disable no/such":     "there is no rule",
		"--live --severity nonsense":   "--severity",
		"--live --fail-on catastrophe": "--fail-on",
	} {
		c := NewLint(factory.New(factory.Streams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}))
		c.SetArgs(strings.Fields(args))
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
