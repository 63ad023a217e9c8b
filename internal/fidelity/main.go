// Command fidelity writes docs/fidelity.md and the pages below docs/fidelity from the
// catalogue of findings: what becomes of every field of every Kruise kind. It is run by make
// generate; a test of its own fails when a page is out of date.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

//go:generate go run . ../../docs

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes the pages into the folder that args name, and removes those of kinds that are gone.
func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder of the pages")
	}
	below := filepath.Join(args[0], "fidelity")
	if err := os.RemoveAll(below); err != nil { //nolint:gosec // the folder is the argument of make generate
		return err
	}
	if err := os.MkdirAll(below, 0o755); err != nil { //nolint:gosec // pages of the documentation are for everybody
		return err
	}
	for name, text := range pages(finding.Rules()) {
		if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}
