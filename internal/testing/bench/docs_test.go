package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
)

func TestMain(m *testing.M) { hermetic.Main(m) }

// TestDocs_BoundsAreThoseOfTheProgram: the table of docs/performance.md has the bounds at which a run fails.
func TestDocs_BoundsAreThoseOfTheProgram(t *testing.T) {
	page, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for row, bound := range map[string]string{
		"| `render`, against reading and printing":       fmt.Sprintf("%.1f, %.2f", cpuLimit, memoryLimit),
		"| `diff`, for each changed object":              fmt.Sprintf("%d ms", diffLimit.Milliseconds()),
		"| `render`, `lint`, `diff`, `convert`":          fmt.Sprintf("%.2f", steepest),
		"| `plan`, `simulate`: a workload of 5,000 pods": fmt.Sprintf("%.1f s", atOnce[0].most.Seconds()),
		"| `plan`: 1,000 pods, one at a time":            fmt.Sprintf("%.0f s", oneByOne[0].most.Seconds()),
		"| the same, 8,000 pods":                         fmt.Sprintf("%.0f s", oneByOne[1].most.Seconds()),
		"| `plan`: 1,000 objects":                        fmt.Sprintf("%.0f s", severalObjects[0].most.Seconds()),
		"| `version --client` and completion":            fmt.Sprintf("%.1f", startLimit),
		"| the program, with the flags of a release":     fmt.Sprintf("%d MB", sizeLimit/1_000_000),
	} {
		_, rest, _ := strings.Cut(string(page), "\n"+row)
		line, _, _ := strings.Cut(rest, "\n")
		cells := strings.Split(line, " | ")
		if len(cells) < 3 || cells[1] != bound {
			t.Errorf("%s: the page says %q, the bound is %s", row, line, bound)
		}
	}
}
