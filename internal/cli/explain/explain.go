// Package explain is the verb that answers single questions about how a change
// would be carried out, from files alone.
package explain

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain",
		Short: "Answer one question about a change",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage.Errorf("see '"+c.CommandPath()+" --help'", "unknown question %q", args[0])
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newInPlace(f))
	return c
}
