package input

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

// RootFlag is the folder that was named, "" for the Git work tree that holds the
// kustomization, or the kustomization itself.
type RootFlag struct{ Folder string }

// Add adds the flag to a verb.
func (f *RootFlag) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Folder, "root", "", "folder that the kustomization may read (default: the Git work tree that holds it, or else its own folder)")
	_ = c.MarkFlagDirname("root")
}

// Complete refuses a folder for no kustomization.
func (f *RootFlag) Complete(kustomize string) error {
	if f.Folder != "" && kustomize == "" {
		return command.Usagef("name a kustomization with -k", "--root is for a kustomization")
	}
	return nil
}
