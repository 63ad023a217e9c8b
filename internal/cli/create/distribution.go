package create

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/fn"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// distributedContent is what is distributed, in kubectl's words for ConfigMaps and Secrets.
type distributedContent struct {
	configMap, secret, kind string
	literals, files, envs   []string
	immutable               bool
}

func (d *distributedContent) addFlags(fl *pflag.FlagSet) {
	fl.StringVar(&d.configMap, "configmap", "", "name of the copied ConfigMap")
	fl.StringVar(&d.secret, "secret", "", "name of the copied Secret")
	fl.StringArrayVar(&d.literals, "from-literal", nil, "KEY=VALUE for its data; can be repeated")
	fl.StringArrayVar(&d.files, "from-file", nil, "[KEY=]FILE for its data; can be repeated")
	fl.StringArrayVar(&d.envs, "from-env-file", nil, "file with lines of KEY=VALUE for its data; can be repeated")
	fl.StringVar(&d.kind, "type", "", "type of the Secret (default Opaque)")
	fl.BoolVar(&d.immutable, "immutable", false, "make the copies immutable")
}

func newDistribution(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "resourcedistribution NAME (--configmap NAME | --secret NAME) --from-literal KEY=VALUE --all-namespaces",
		Aliases: []string{kruise.KindResourceDistribution, "resourceDistribution", "resourcedistributions", "distributor", "rd"},
		Short:   "Create a ResourceDistribution: copy a Secret or ConfigMap",
		Long: `Create a ResourceDistribution: copy a Secret or ConfigMap. One that exists is
distributed by "kubectl kruise distribute".`,
		Example: `  kubectl kruise create resourcedistribution settings --configmap settings --from-literal mode=prod --include shop,api

  # files, to all namespaces but one
  kubectl kruise create resourcedistribution ca --configmap ca --from-file ca.crt --all-namespaces --exclude kube-system`,
	}
	d := &distributedContent{}
	o := newForm(f, c, kruise.KindResourceDistribution, &kruise.ResourceDistribution{}, targetFields)
	d.addFlags(c.Flags())
	o.begin = func(_ context.Context, object *tree.Node, words []string) error {
		if len(words) > 0 {
			return o.commandless()
		}
		return d.fill(object, f.Streams.In)
	}
	return c
}

// fill makes the object that is distributed as the generator for kustomize does; in is standard input.
func (d *distributedContent) fill(object *tree.Node, in io.Reader) error {
	kind, name := "ConfigMap", d.configMap
	if d.secret != "" {
		kind, name = "Secret", d.secret
	}
	switch {
	case (d.configMap != "") == (d.secret != ""):
		return command.Usagef("", "either --configmap or --secret must be specified")
	case d.kind != "" && kind == "ConfigMap":
		return command.Usagef("", "--type is for Secrets")
	}
	config := tree.FromValue(map[string]any{
		"metadata": map[string]any{"name": tree.StrAt(object, "metadata", "name")},
		"resource": map[string]any{
			"resourceKind": kind, "resourceName": name, "type": d.kind,
			"literals": stringValues(d.literals), "files": stringValues(d.files), "envs": stringValues(d.envs),
			"resourceOptions": map[string]any{"immutable": d.immutable},
		},
		"targets": map[string]any{"allNamespaces": true},
	})
	made, err := fn.GenerateDistribution(config, func(name string) ([]byte, error) { return load.File(name, in, 0) })
	if err != nil {
		return err
	}
	tree.SetAt(object, tree.Get(made, "spec", "resource"), "spec", "resource")
	return nil
}
