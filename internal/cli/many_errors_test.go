package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestErrors_AreLimitedInNumber: the errors of a file of broken documents do not flood a log.
func TestErrors_AreLimitedInNumber(t *testing.T) {
	code, _, errOut := call(t.Context(), t, strings.Repeat("a: {\n---\n", resource.MostErrors+234), "render", "-f", "-")
	lines := strings.Split(strings.TrimSpace(errOut), "\n")
	if last := lines[len(lines)-1]; code != exitError || last != "error: 234 more errors" || strings.Count(errOut, "error: ") != resource.MostErrors+1 {
		t.Errorf("exit %d, %d lines, the last one %q", code, len(lines), last)
	}
}

// TestLint_ListsALimitedNumberOfProblems: in every format, what is not listed is counted and decides
// on the exit code.
func TestLint_ListsALimitedNumberOfProblems(t *testing.T) {
	var in strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&in, "---\napiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: b%d}\nspec: {selector: {matchLabels: {app: a%d}}, minAvailable: x, maxUnavailable: z}\n", i, i)
	}
	for _, format := range []string{"text", "json", "sarif", "github"} {
		code, out, errOut := call(t.Context(), t, in.String(), "lint", "-f", "-", "-o", format)
		if code != exitError || !strings.Contains(out, "8000 more errors") || !strings.Contains(errOut, "lint found 18000 errors") || len(out) > 10_000*800 {
			t.Errorf("%s: exit %d, %d bytes that end in %s, %s", format, code, len(out), out[max(0, len(out)-300):], errOut)
		}
	}
	code, out, errOut := call(t.Context(), t, strings.Repeat("a: {\n---\n", 5000), "lint", "-f", "-")
	if lines := strings.Count(out, "\n"); code != exitError || lines > 2100 || !strings.Contains(out, "error: 4000 more errors  [input/more]") || !strings.Contains(errOut, "lint found 5000 errors") {
		t.Errorf("exit %d, %d lines, %s", code, lines, errOut)
	}
}
