package input

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var (
	limitRow  = regexp.MustCompile("(?m)^\\| (`[a-z-]+`(?:, `[a-z-]+`)?) \\| [^|]+ \\| ([\\w, ]+) \\|$")
	amount    = regexp.MustCompile(`\d[\d,]*\d(?:Mi)?|\d+`)
	limitName = regexp.MustCompile("`([a-z-]+)`")
)

// TestDocs_LimitsAreThoseOfTheFlag: the table of docs/security.md has each limit, with its default.
func TestDocs_LimitsAreThoseOfTheFlag(t *testing.T) {
	page, err := os.ReadFile(checkout.Path("docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int64{}
	for _, row := range limitRow.FindAllStringSubmatch(string(page), -1) {
		names, amounts := limitName.FindAllStringSubmatch(row[1], -1), strings.Split(row[2], ", ")
		if len(names) != len(amounts) {
			t.Fatalf("%q has %d amounts", row[0], len(amounts))
		}
		for i, name := range names {
			n, err := parseLimit(strings.ReplaceAll(amount.FindString(amounts[i]), ",", ""))
			if err != nil {
				t.Fatalf("%q: %v", row[0], err)
			}
			shown[name[1]] = n
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys((&LimitFlag{}).names())), slices.Sorted(maps.Keys(shown))); diff != "" {
		t.Errorf("-flag +page:\n%s", diff)
	}
	of := stage.Limits{}.OrDefault()
	for name, want := range map[string]int{
		"file-bytes": load.DefaultMaxFileBytes, "objects": of.Objects, "subsets": of.Subsets, "copies": of.Copies, "copy-bytes": of.CopyBytes,
		"containers": of.Containers, "output-nodes": of.OutputNodes, "output-bytes": of.OutputBytes, "seconds": defaultSeconds,
	} {
		if shown[name] != int64(want) {
			t.Errorf("%s: the page says %d, the program has %d", name, shown[name], want)
		}
	}
}
