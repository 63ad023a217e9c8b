// Command goreleaser reads .goreleaser.yaml as GoReleaser does, strictly, and does nothing
// with it: GoReleaser itself is too large to be compiled for a check.
package main

import (
	"fmt"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goreleaser .goreleaser.yaml")
		os.Exit(2)
	}
	if _, err := config.Load(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
