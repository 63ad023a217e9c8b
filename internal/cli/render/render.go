// Package render is the verb that expands Kruise objects from files. It opens
// no kubeconfig unless --live or --target auto asks for a cluster.
package render

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/argocd"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const long = `Expand OpenKruise objects into native Kubernetes resources, from files alone.

Unchanged objects are emitted byte for byte. Approximations and losses are reported on
stderr; with --strict a loss is an error. Configuration of this tool in the input, such
as a RenderConfig, is not emitted, and reported.`

const example = `  # a directory, to standard output
  kubectl kruise render -f manifests/ -R

  # a kustomization, built in process; say why each sidecar went where
  kubectl kruise render -k overlays/prod --explain > prod.yaml

  # facts of the cluster that the files do not hold
  kubectl kruise render -f app.yaml --with namespaces.yaml

  # keep Kruise workloads, only put the sidecars in
  kubectl kruise render -f app.yaml --target kruise --expand SidecarSet

  # sidecars by a policy of the API server, for pods from elsewhere, too
  kubectl kruise render -f sidecars.yaml --sidecarset-as admission

  # one file per object, with a kustomization.yaml that lists them
  kubectl kruise render -f app.yaml --output-dir out --output-kustomization

  # one folder per subset, for subsets that have a cluster each
  kubectl kruise render -f app.yaml --output-dir out --split-by subset

  # from an old state to a new one: patches to send by hand, step by step
  kubectl kruise render -f new.yaml --base old.yaml --target kruise --patches-dir patches --steps 1,50%,100%

  # a partition without Kruise: a stable and a canary Deployment
  kubectl kruise render -f new.yaml --base old.yaml`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f}
	c := &cobra.Command{
		Use:     "render (-f FILE | -k DIR)",
		Short:   "Expand Kruise objects into native Kubernetes resources",
		Long:    long,
		Example: example,
		Args:    command.NoArgs("name files with -f, a kustomization with -k"),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().NFlag() == 0 && argocd.Inside(f) {
				return argocd.Generate(c.Context(), f, &o.limits)
			}
			return o.run(c.Context())
		},
	}
	o.addFlags(c)
	complete(c)
	return c
}

// run is the whole story: load, render, say what was found, emit.
func (o *options) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	defer o.factory.Working("loading manifests")()
	stream, err := o.load(ctx)
	if err != nil {
		return err
	}
	if err := o.needsBase(stream); err != nil {
		return err
	}
	count := len(stream)
	defer o.factory.Working("rendering %d objects", count)()
	opt, err := o.engineOptions(ctx, stream)
	if err != nil {
		return err
	}
	res, err := engine.Render(stream, opt)
	if err != nil {
		return err
	}
	if err := o.say(count, res); err != nil {
		return err
	}
	if err := o.judge(res); err != nil {
		return err
	}
	if err := o.writeSequences(opt, res); err != nil {
		return err
	}
	return o.emit(ctx, res.Resources)
}

// judge refuses a result that must not be emitted.
func (o *options) judge(res *engine.Result) error {
	if len(res.Resources) == 0 && (o.patchesDir == "" || len(res.Sequences) == 0) && !o.allowEmpty {
		return &resource.Error{Err: errors.New("nothing is left to emit"), Hint: emptyHint}
	}
	if o.strict && finding.Worst(res.Findings).Rank() >= finding.Lost.Rank() {
		hint := "the findings above name each field and what to do"
		if o.quiet {
			hint = "without --quiet the findings name each field and what to do"
		}
		return &resource.Error{Err: errors.New("something is lost, and --strict was given"), Hint: hint}
	}
	return nil
}
