// Command customizations writes what Argo CD should know of Kruise's kinds as a patch of
// its ConfigMap: health, actions, and, apart from them, which differences to ignore. The
// scripts are in plugins/argocd/lua. The same, with the plugin's container, is written as
// values of the Helm chart and as an ArgoCD object of OpenShift GitOps. It is run by make generate; a test of its own fails
// when a file is out of date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../plugins/argocd

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "error: give the folder plugins/argocd")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes all pages below dir.
func run(dir string) error {
	pages, err := pages(dir)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // manifests are for everybody
			return err
		}
	}
	return nil
}
