package fn

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// TestRun_EqualsGolden runs every folder of testdata/golden: in.yaml becomes out.yaml,
// with stderr.txt (findings, then the error) where something is said. An
// output that is no error is fed back and must stay the same, but for what
// generators and transformers find again.
func TestRun_EqualsGolden(t *testing.T) {
	for _, dir := range golden.Cases(t, "testdata/golden/*/in.yaml") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in, err := os.ReadFile(filepath.Join(dir, "in.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			out, said := run(t, in, dir)
			golden.Same(t, filepath.Join(dir, "out.yaml"), wordless(out))
			golden.Same(t, filepath.Join(dir, "stderr.txt"), wordless(said))
			if strings.Contains(said, "error:") {
				return
			}
			again, _ := run(t, []byte(out), dir)
			if diff := cmp.Diff(out, again); diff != "" {
				t.Errorf("fed back, the output changes:\n%s", diff)
			}
		})
	}
}

var (
	findingResults = regexp.MustCompile(`(?m)^- message: .*\n(?:  .*\n)*?  tags:\n    id: .*\n`)
	findingLines   = regexp.MustCompile(`(?m)^(?:info|warning): .* \[[a-z-]+/[a-z0-9-]+\]\n`)
)

// wordless takes the catalogue's findings out: which there are is no business
// of this package, and TestRun_WritesFindingsToResults looks at their form.
func wordless(s string) string {
	return findingLines.ReplaceAllString(findingResults.ReplaceAllString(s, ""), "")
}

// run returns what the function writes, and what it says including its error.
func run(t *testing.T, in []byte, dir string) (out, said string) {
	t.Helper()
	var o, e bytes.Buffer
	if err := Run(t.Context(), bytes.NewReader(in), &o, &e, load.Below(dir)); err != nil {
		e.WriteString("error: " + err.Error() + "\n")
	}
	return o.String(), e.String()
}
