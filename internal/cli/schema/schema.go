// Package schema is the verb that prints what other programs need to know of
// Kruise's kinds: kustomize, editors and validators. It reads nothing.
package schema

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

const long = `Print what other programs need to know of OpenKruise's kinds.

"render -k" has the documents for kustomize built in.`

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print schemas of Kruise's kinds, for kustomize and editors",
		Long:  long,
		Args:  command.NoArgs("one of: kustomize, kustomize-config, json"),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSchema(f), newConfiguration(f), newJSON(f))
	return c
}

// newSchema prints what kustomize merges lists by.
func newSchema(f *factory.Factory) *cobra.Command {
	return document(f, kustomize.Schema, &cobra.Command{
		Use:   "kustomize",
		Short: "Print the OpenAPI document for kustomize's list merging",
		Long: `Print the OpenAPI document for the field openapi.path of a kustomization. That
field replaces the schema that kustomize has built in, so the document holds both:
Kubernetes' kinds as kustomize knows them and Kruise's. Strategic merge patches
then merge containers, volumes, variables and subsets by name, and "namespace:"
leaves SidecarSets and other cluster-scoped objects alone.

Name it in the outermost kustomization; it counts for all below.`,
		Example: `  kubectl kruise schema kustomize > kruise-schema.json
  printf 'openapi:\n  path: kruise-schema.json\n' >> kustomization.yaml`,
	})
}

// newConfiguration prints what kustomize's own transformers follow.
func newConfiguration(f *factory.Factory) *cobra.Command {
	return document(f, kustomize.Configuration, &cobra.Command{
		Use:   "kustomize-config",
		Short: "Print kustomize's configuration for Kruise's kinds",
		Long: `Print the file for the field configurations of a kustomization. With it,
commonLabels and labels reach selectors and templates of Kruise's kinds, images
and replicas their fields, and references to renamed objects are updated: those of
pods to ConfigMaps, Secrets and so on, and those of autoscalers, budgets and
spreads to workloads.

List it in each kustomization that needs it: kustomize does not pass it on. The
selector of a SidecarSet is not changed, as it usually selects other pods.`,
		Example: `  kubectl kruise schema kustomize-config > kruise-config.yaml
  printf 'configurations:\n- kruise-config.yaml\n' >> kustomization.yaml`,
	})
}

// document completes a command that prints one document.
func document(f *factory.Factory, text func() ([]byte, error), c *cobra.Command) *cobra.Command {
	c.Args = command.NoArgs("the document goes to standard output")
	c.RunE = func(*cobra.Command, []string) error {
		b, err := text()
		if err != nil {
			return err
		}
		return emit(f, b)
	}
	return c
}

// emit writes a document that ends with its line.
func emit(f *factory.Factory, b []byte) error {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	_, err := f.Streams.Out.Write(b)
	return err
}
