package reference

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
)

const schemaLong = `Print schemas and configuration of OpenKruise's kinds for other programs.

kustomize does not know Kruise's kinds: it builds as it does for them only where a
kustomization lists the component that "schema kustomize --out" writes.`

// NewSchema returns the verb.
func NewSchema(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print schemas of Kruise's kinds, for kustomize and editors",
		Long:  schemaLong,
		Args:  command.NoArgs("one of: kustomize, kustomize-config, json"),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKustomizeSchema(f), newKustomizeConfiguration(f), newJSON(f))
	return c
}

// newKustomizeSchema prints what kustomize merges lists by, or writes the component that has it.
func newKustomizeSchema(f *factory.Factory) *cobra.Command {
	var outputDir string
	c := documentCommand(f, kustomize.Schema, &cobra.Command{
		Use:   "kustomize",
		Short: "Print the OpenAPI document for kustomize's list merging, or write the component",
		Long: `Print the OpenAPI document for the field openapi.path of a kustomization. That
field replaces the schema that kustomize has built in, so the document holds both:
Kubernetes' kinds as kustomize knows them and Kruise's. Strategic merge patches
then merge containers, volumes, variables and subsets by name, and "namespace:"
leaves SidecarSets and other cluster-scoped objects alone.

Name it in the outermost kustomization; it counts for all below.

--out writes a component with this document and that of kustomize-config. List
it under components: in each kustomization whose patches, names, labels, images or
replicas should reach Kruise's kinds: then every kustomize builds them alike.`,
		Example: `  # a component, in the folder kruise beside kustomization.yaml
  kubectl kruise schema kustomize --out kruise
  printf 'components:\n- kruise\n' >> kustomization.yaml

  # the document alone
  kubectl kruise schema kustomize > kruise-schema.json
  printf 'openapi:\n  path: kruise-schema.json\n' >> kustomization.yaml`,
	})
	c.Flags().StringVar(&outputDir, "out", "", "write a component with both documents for kustomize into this directory")
	_ = c.MarkFlagDirname("out")
	document := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if outputDir == "" {
			return document(c, args)
		}
		files, err := kustomize.Component()
		if err != nil {
			return err
		}
		return writeFiles(outputDir, files)
	}
	return c
}

// writeFiles writes files into a directory, which need not exist. The directory may be one of a repository that others
// have written: no link in it leads the writing elsewhere.
func writeFiles(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // schemas are for everybody
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is pending in it
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, root.MkdirAll(filepath.Dir(name), 0o755), root.WriteFile(name, files[name], 0o644))
	}
	return errors.Join(errs...)
}

// newKustomizeConfiguration prints what kustomize's own transformers follow.
func newKustomizeConfiguration(f *factory.Factory) *cobra.Command {
	return documentCommand(f, kustomize.Configuration, &cobra.Command{
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

// documentCommand completes a command that prints one document.
func documentCommand(f *factory.Factory, text func() ([]byte, error), c *cobra.Command) *cobra.Command {
	c.Args = command.NoArgs("the document goes to standard output")
	c.RunE = func(*cobra.Command, []string) error {
		b, err := text()
		if err != nil {
			return err
		}
		return writeDocument(f, b)
	}
	return c
}

// writeDocument writes a document that ends with its line.
func writeDocument(f *factory.Factory, b []byte) error {
	if len(b) > 0 && b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	_, err := f.Streams.Out.Write(b)
	return err
}

// jsonOptions are what JSON schemas are wanted.
type jsonOptions struct {
	factory   *factory.Factory
	version   string
	open      bool
	kruise    installation.Flag
	outputDir string
}

func newJSON(f *factory.Factory) *cobra.Command {
	o := &jsonOptions{factory: f}
	c := &cobra.Command{
		Use:   "json (KIND | --out DIR)",
		Short: "Print JSON schemas for editors and validators",
		Long: `Print the JSON schema (draft 7) of a kind, pod templates included. Unknown
fields are errors, as in strict validation by an API server; --open accepts them.

--out writes the schemas of all kinds in all versions, or of the kind
given, under the names that kubeconform looks for: GROUP/KIND_VERSION.json.

It checks fields, types and values. "kubectl kruise lint" reports what Kruise's
webhooks reject beyond that.`,
		Example: `  # for an editor: a first line "# yaml-language-server: $schema=cloneset.json"
  kubectl kruise schema json CloneSet > cloneset.json

  # as Kruise 1.8 has it
  kubectl kruise schema json UnitedDeployment --kruise-version 1.8

  # for a validator
  kubectl kruise schema json --out schemas
  kubeconform -schema-location default \
    -schema-location 'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' manifests/`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	fl := c.Flags()
	fl.StringVar(&o.version, "version", "", "API version: v1alpha1 or v1beta1 (default: the newest of the kind)")
	o.kruise.Add(c, "all: the kinds and versions of every release")
	fl.BoolVar(&o.open, "open", false, "accept fields that the schema does not know")
	fl.StringVar(&o.outputDir, "out", "", "write the schemas into this directory")
	c.ValidArgs = kindNames()
	command.Offer(c, "version", kruise.V1alpha1, kruise.V1beta1)
	_ = c.MarkFlagDirname("out")
	return c
}

func kindNames() []string {
	var out []string
	for _, k := range kruise.Kinds() {
		out = append(out, k.Kind)
	}
	return out
}

func (o *jsonOptions) run(args []string) error {
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	hint := "one of: " + strings.Join(kindNames(), ", ")
	switch {
	case len(args) > 1:
		return command.Usagef("one kind, or --out for all", "unexpected argument %q", args[1])
	case len(args) == 0 && o.outputDir == "":
		return command.Usagef(hint+"; or --out for all", "no kind")
	}
	found := slices.DeleteFunc(kruise.Kinds(), func(k kruise.Registered) bool { return len(args) == 1 && !isNamed(k, args[0]) })
	if len(found) == 0 {
		return command.Usagef(hint, "Kruise has no kind %q", args[0])
	}
	if found = o.served(found); len(found) == 0 {
		return command.Usagef("give another --"+installation.Name, "%s has no %s", o.kruise.Given().Name(), args[0])
	}
	if o.outputDir != "" {
		return o.write(found)
	}
	version := o.version
	if version == "" {
		version = found[0].Newest()
	}
	if !slices.Contains(found[0].Versions, version) {
		return command.Usagef("one of: "+strings.Join(found[0].Versions, ", "), "--version: %s has no version %q", found[0].Kind, version)
	}
	b, err := schema.JSON(found[0].Group+"/"+version, found[0].Kind, schema.Options{Open: o.open, Kruise: o.kruise.Given()})
	if err != nil {
		return err
	}
	return writeDocument(o.factory, b)
}

// served are the kinds with the versions that the release serves; all of them without one.
func (o *jsonOptions) served(list []kruise.Registered) []kruise.Registered {
	if o.kruise.Given().IsZero() {
		return list
	}
	var out []kruise.Registered
	for _, k := range list {
		if k.Versions = o.kruise.Given().Versions(k.Group, k.Kind); len(k.Versions) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// isNamed reports whether a word means the kind: its name or plural, with or
// without its group, in any case.
func isNamed(k kruise.Registered, word string) bool {
	word, group, _ := strings.Cut(strings.ToLower(word), ".")
	return strings.TrimSuffix(word, "s") == strings.ToLower(k.Kind) && (group == "" || group == k.Group)
}

// write writes the schemas of the kinds into the directory.
func (o *jsonOptions) write(list []kruise.Registered) error {
	files := map[string][]byte{}
	for _, k := range list {
		for _, version := range k.Versions {
			if o.version != "" && o.version != version {
				continue
			}
			b, err := schema.JSON(k.Group+"/"+version, k.Kind, schema.Options{Open: o.open, Kruise: o.kruise.Given()})
			if err != nil {
				return err
			}
			files[filepath.Join(k.Group, strings.ToLower(k.Kind)+"_"+version+".json")] = append(b, '\n')
		}
	}
	return writeFiles(o.outputDir, files)
}
