package render

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	krm "github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const fnLong = `Read a ResourceList from standard input and write it, rendered, to standard
output, as kustomize and kpt expect from a KRM function. The function config is a
RenderConfig, a ConfigMap, or a Kruise object itself.

Without arguments the program does the same if standard input is a ResourceList.`

// NewFn returns the verb.
func NewFn(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Run as a KRM function (ResourceList in, ResourceList out)",
		Long:  fnLong,
		Example: `  # as kustomize and kpt run it
  kubectl kruise fn < resourcelist.yaml > rendered.yaml

  # in a kustomization: "transformers: [logs.yaml]", where logs.yaml is a SidecarSet with
  # the annotation
  #   config.kubernetes.io/function: "exec: {path: kubectl-kruise}"
  kustomize build --enable-alpha-plugins --enable-exec overlays/prod`,
		Args: command.NoArgs("options go into the function config"),
		RunE: func(c *cobra.Command, _ []string) error {
			s := f.Streams
			return krm.Run(c.Context(), s.In, s.Out, s.Err, load.Below("."))
		},
	}
}
