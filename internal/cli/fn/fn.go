// Package fn is the verb that runs the engine as a KRM function: a ResourceList
// on stdin, a ResourceList on stdout.
package fn

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	krm "github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const long = `Read a ResourceList from standard input and write it, rendered, to standard
output, as kustomize and kpt ask of a KRM function. The function config is a
RenderConfig, a ConfigMap, or a Kruise object itself.

Without arguments the program does the same when a ResourceList comes in.`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function (ResourceList in, ResourceList out)",
		Long:  long,
		Example: `  # what kustomize and kpt do with it
  kubectl kruise fn < resourcelist.yaml > rendered.yaml`,
		Args: command.NoArgs("options go into the function config"),
		RunE: func(c *cobra.Command, _ []string) error {
			s := f.Streams
			return krm.Run(c.Context(), s.In, s.Out, s.Err, krm.Options{ReadFile: load.Below(".")})
		},
	}
}
