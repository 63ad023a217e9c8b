package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
)

// TestDiff_JobForGitHubIsComplete: the job for GitHub is whole, calls the command as it is, and finds
// its own comment again.
func TestDiff_JobForGitHubIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "plugins", "ci", "github-diff.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var job struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(text, &job); err != nil || len(job.Jobs["diff"].Steps) < 4 {
		t.Fatalf("%+v, %v", job, err)
	}
	for _, want := range []string{view.ChangesMark, `kubectl-kruise diff --git "origin/$BASE...HEAD" "$MANIFESTS" -o markdown`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the job", want)
		}
	}
}
