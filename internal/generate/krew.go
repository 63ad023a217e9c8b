package main

import (
	"os"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/krew"
)

// writeKrew writes krew manifests for a release. The list of checksums is a file as sha256sum writes
// it, or "none" before there is a release.
func writeKrew(version, list string, files []string) error {
	sums, err := checksums(version, list)
	if err != nil {
		return err
	}
	text, err := krew.Manifest(krew.Release{Version: version, Sums: sums})
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil { //nolint:gosec // manifests are for everybody
			return err
		}
	}
	return nil
}

func checksums(version, list string) (map[string]string, error) {
	if list == "none" {
		sums := map[string]string{}
		for _, p := range krew.Platforms {
			sums[p.Archive(version)] = strings.Repeat("0", 64)
		}
		return sums, nil
	}
	b, err := os.ReadFile(list) //nolint:gosec // the file that the caller names
	if err != nil {
		return nil, err
	}
	return krew.Sums(string(b))
}
