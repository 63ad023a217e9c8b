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
	switch n := len(args); {
	case n == 2 && args[0] == "fidelity":
		return writeFidelity(args[1])
	case n == 2 && args[0] == "customizations":
		return writeCustomizations(args[1])
	case n == 3 && args[0] == "notice":
		return writeNotice(args[1], args[2])
	case n > 3 && args[0] == "krew":
		return writeKrew(args[1], args[2], args[3:])
	}
	return fmt.Errorf("usage: generate fidelity DOCS | customizations ARGOCD | notice PACKAGE FILE | krew VERSION CHECKSUMS FILE..., not %q", args)
}
