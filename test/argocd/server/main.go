// Command server is argocd-cmp-server as Argo CD has it: its command, without the
// dozen other programs that share a binary with it there.
package main

import (
	"os"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
)

func main() {
	if commands.NewCommand().Execute() != nil {
		os.Exit(1)
	}
}
