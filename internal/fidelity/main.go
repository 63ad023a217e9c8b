// Command fidelity writes docs/fidelity.md from the catalogue of findings:
// what becomes of every field of every Kruise kind. It is run by make
// generate; a test of its own fails when the page is out of date.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

//go:generate go run . ../../docs/fidelity.md

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes the page to the file named in args, or to standard output.
func run(args []string) error {
	var page bytes.Buffer
	write(&page, finding.Rules())
	if len(args) == 0 {
		_, err := os.Stdout.Write(page.Bytes())
		return err
	}
	return os.WriteFile(args[0], page.Bytes(), 0o644) //nolint:gosec // a page of the documentation is for everybody
}
