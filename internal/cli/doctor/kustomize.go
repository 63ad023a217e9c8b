package doctor

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

const kustomizeLong = `Report the functions of a kustomization that kustomize would skip or fail on, or that
would empty its output. Nothing is run: pass the flags that 'kustomize build' gets.

It also reports patches and fields that have another effect on Kruise's kinds, which
kustomize does not know, than on Kubernetes' own: such a patch of one container drops
the others.

With --built the output of the build is checked, too: an empty output, references to
missing names, and leftovers of kustomize's own annotations.`

const kustomizeExample = `  kubectl kruise doctor kustomize overlays/prod --enable-alpha-plugins --enable-exec

  # with the output of the build
  kustomize build --enable-alpha-plugins --enable-exec overlays/prod > built.yaml
  kubectl kruise doctor kustomize overlays/prod --enable-alpha-plugins --enable-exec --built built.yaml`

// kustomize is the part of the verb that needs no cluster.
func (o *doctorOptions) kustomize() *cobra.Command {
	var flags trapFlags
	var built string
	c := &cobra.Command{
		Use: "kustomize DIR", Short: "Check the functions of a kustomization", Long: kustomizeLong, Example: kustomizeExample,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("for instance: 'kubectl kruise doctor kustomize overlays/prod'", "one folder with a kustomization is wanted")
			}
			return o.traps(c.Context(), args[0], flags, built)
		},
	}
	c.Flags().BoolVar(&flags.AlphaPlugins, "enable-alpha-plugins", false, "assume that kustomize build gets this flag")
	c.Flags().BoolVar(&flags.Exec, "enable-exec", false, "assume that kustomize build gets this flag")
	c.Flags().StringVar(&built, "built", "", "file with what kustomize build printed, - for standard input")
	return c
}

func (o *doctorOptions) traps(ctx context.Context, dir string, flags trapFlags, built string) error {
	if err := command.OneOf("output", o.output, doctorOutputs...); err != nil {
		return err
	}
	lines, functions, err := findTraps(ctx, dir, flags)
	if err != nil {
		return err
	}
	more, err := o.built(built, functions)
	if err != nil {
		return err
	}
	return o.report(append(lines, more...))
}

func (o *doctorOptions) built(file string, functions int) ([]verdictLine, error) {
	if file == "" {
		return nil, nil
	}
	text, err := load.File(file, o.factory.Streams.In, 0)
	if err != nil {
		return nil, err
	}
	return checkBuilt(text, functions)
}
