package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// TestStability_ListsDeprecations: the page lists what is deprecated, and nothing else.
func TestStability_ListsDeprecations(t *testing.T) {
	page, err := os.ReadFile("../../docs/stability.md")
	if err != nil {
		t.Fatal(err)
	}
	all := command.Deprecations(whole())
	for what, s := range all {
		if row := fmt.Sprintf("| `%s` | `%s` | %s |\n", what, s.Instead, s.Gone); !strings.Contains(string(page), row) {
			t.Errorf("docs/stability.md lacks %s", row)
		}
	}
	_, table, _ := strings.Cut(string(page), "| | use | gone in |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n") + 1; rows != len(all) {
		t.Errorf("%d rows, %d flags and verbs go", rows, len(all))
	}
}

// TestDeprecatedFlag_WarnsOnce: the old name still works, and warns once, beside the output.
func TestDeprecatedFlag_WarnsOnce(t *testing.T) {
	input := "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\n"
	_, _, said := call(t.Context(), t, input, "expose", "-f", "-", "--port", "80", "--container-port", "8080", "--server", "http://127.0.0.1:1")
	if want := "warning: --container-port goes in v2.0.0; use --target-port\n"; strings.Count(said, want) != 1 {
		t.Errorf("%s", said)
	}
}
