package cli

import (
	"strings"
	"testing"
)

// TestErrors_AreLimitedInNumber: the errors of a file of broken documents do not flood a log.
func TestErrors_AreLimitedInNumber(t *testing.T) {
	code, _, errOut := call(t.Context(), t, strings.Repeat("a: {\n---\n", mostFaults+234), "render", "-f", "-")
	lines := strings.Split(strings.TrimSpace(errOut), "\n")
	if last := lines[len(lines)-1]; code != exitError || last != "error: 234 more errors" || strings.Count(errOut, "error: ") != mostFaults+1 {
		t.Errorf("exit %d, %d lines, the last one %q", code, len(lines), last)
	}
}
