// Package explain is the verb that answers single questions about how a change
// would be carried out, from files alone; a type is documented as kubectl explain does.
package explain

import (
	"github.com/spf13/cobra"
	kubectlexplain "k8s.io/kubectl/pkg/cmd/explain"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

const longVerb = `Show the documentation of a type and its fields, as kubectl explain does, or answer
a question about a change: "explain inplace" reports whether it can be made in
place.`

const exampleVerb = `  # the fields of a CloneSet, and one of them
  kubectl kruise explain cloneset
  kubectl kruise explain cloneset.spec.updateStrategy

  # can this change be made in place?
  kubectl kruise explain inplace old.yaml new.yaml`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	types := kubectl.Wrap(kubectlexplain.NewCmdExplain("kubectl kruise", kubectl.Factory(f), kubectl.Streams(f)))
	c := &cobra.Command{
		Use: "explain (TYPE[.FIELD] | inplace OLD NEW)", Short: "Document a type, or explain the effect of a change", Long: longVerb, Example: exampleVerb,
		Args:              typeOrQuestion,
		ValidArgsFunction: kubectl.Names(f),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return kubectl.Err(types.RunE(c, args))
		},
	}
	c.Flags().AddFlagSet(types.Flags())
	command.Offer(c, "output", "plaintext", "plaintext-openapiv2")
	c.AddCommand(newInPlace(f))
	return c
}

// typeOrQuestion takes one word, which is no misspelt question.
func typeOrQuestion(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(command.NearCommands(c, args[0])) > 0:
		return command.NoSuchCommand(c, args)
	case len(args) > 1:
		return command.Usagef("kubectl kruise explain TYPE.FIELD, or explain inplace OLD NEW", "want one type, got %d arguments", len(args))
	}
	return nil
}
