package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

const shells = "one of: bash, zsh, fish, powershell"

// completion is cobra's command of that name, which says what is wrong with a call.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef(shells, "shell not specified")
			}
			return command.Usagef(shells, "unsupported shell type %q", args[0])
		}
		c.RunE = showHelp
		c.Example = "  source <(kubectl kruise completion bash)"
	}
}

// helper is the name under which kubectl asks what to offer behind "kubectl kruise".
const helper = "kubectl_complete-kruise"

// completing serves the program under the name of its helper: a link of that name is all
// that kubectl needs. The words that were typed become those of cobra's hidden command.
func completing(args []string) []string {
	if strings.TrimSuffix(filepath.Base(args[0]), ".exe") != helper {
		return args
	}
	return append([]string{"kubectl-kruise", cobra.ShellCompRequestCmd}, args[1:]...)
}
