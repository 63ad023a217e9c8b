// Command generate writes the files of the checkout that come from its code: pages and
// customizations by make generate, the licences of linked modules by make notice, and the manifests
// of krew for a release. A test of each fails when a file is out of date.
package main

import (
	"fmt"
	"os"
)

//go:generate go run . fidelity ../../docs
//go:generate go run . customizations ../../plugins/argocd

func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func generate(args []string) error {
	if len(args) > 1 {
		switch what, rest := args[0], args[1:]; {
		case what == "fidelity" && len(rest) == 1:
			return writeFidelity(rest[0])
		case what == "customizations" && len(rest) == 1:
			return writeCustomizations(rest[0])
		case what == "notice" && len(rest) == 2:
			return writeNotice(rest[0], rest[1])
		case what == "krew" && len(rest) > 2:
			return writeKrew(rest[0], rest[1], rest[2:])
		}
	}
	return fmt.Errorf("usage: generate fidelity DOCS | customizations ARGOCD | notice PACKAGE FILE | krew VERSION CHECKSUMS FILE..., not %q", args)
}
