package kubectl

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/usage"
)

// options prints the flags that all commands have, among them those that --help leaves
// out.
func options(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "Print the flags that all commands have",
		Example: `  kubectl kruise options`,
		Args:    usage.NoArgs(""),
		RunE: func(c *cobra.Command, _ []string) error {
			all := pflag.NewFlagSet("", pflag.ContinueOnError)
			c.Root().PersistentFlags().VisitAll(func(flag *pflag.Flag) {
				shown := *flag
				shown.Hidden = false
				all.AddFlag(&shown)
			})
			_, err := fmt.Fprintf(f.Streams.Out, "These flags go with every command:\n\n%s", all.FlagUsages())
			return err
		},
	}
}
