// Package distribute has the verb that makes a ResourceDistribution from a Secret or
// ConfigMap of the cluster.
package distribute

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cli "k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/fields"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const long = `Make a ResourceDistribution from a Secret or ConfigMap of the cluster: Kruise then keeps
a copy of it in each namespace that is chosen. Later changes of the original do not
follow by themselves: its content stands in the ResourceDistribution.

The namespace of the original is left out, since Kruise takes over nothing that is there.
Values are shown by -o yaml, json, or a template alone, and in no message.`

const example = `  # to two namespaces
  kubectl kruise distribute configmap/settings --include shop,api

  # to all namespaces of a team, under another name
  kubectl kruise distribute secret/registry -n ci --namespace-selector team=shop --resource-name pull --name ci-registry

  # a manifest for Git
  kubectl kruise distribute configmap/settings -A --dry-run=client -o yaml > settings.yaml`

// Targets are the flags that choose the namespaces of a ResourceDistribution.
var Targets = []fields.Field{
	{Flag: "all-namespaces", Short: "A", Path: "spec.targets.allNamespaces", Shape: fields.Truth, Help: "to all namespaces"},
	{Flag: "include", Path: "spec.targets.includedNamespaces.list", Shape: fields.Names, Help: "to these namespaces"},
	{Flag: "exclude", Path: excluded, Shape: fields.Names, Help: "not to these namespaces, whatever else is said"},
	{Flag: "namespace-selector", Path: "spec.targets.namespaceSelector", Shape: fields.Selector, Help: "to namespaces with these labels"},
}

const excluded = "spec.targets.excludedNamespaces.list"

type options struct {
	factory *factory.Factory
	sending *submit.CreateOptions
	set     *fields.Set

	name, resourceName string
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	o := &options{factory: f, sending: submit.NewCreateOptions(f)}
	c := &cobra.Command{
		Use: "distribute (secret | configmap)/NAME (--include A,B | --all-namespaces | --namespace-selector SELECTOR)", DisableFlagsInUseLine: true,
		Short: "Copy a Secret or ConfigMap into namespaces", Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.sending.Complete(); err != nil {
				return err
			}
			return o.run(c.Context(), args)
		},
		ValidArgsFunction: kubectl.Names(f, "secret", "configmap"),
	}
	c.Flags().StringVar(&o.name, "name", "", "name of the ResourceDistribution; that of the original by default")
	c.Flags().StringVar(&o.resourceName, "resource-name", "", "name of the copies; that of the original by default")
	o.sending.AddFlags(c)
	o.set = fields.Bind(c, append(slices.Clip(Targets), fields.Metadata...))
	return c
}

func (o *options) run(ctx context.Context, args []string) error {
	original, err := o.original(args)
	if err != nil {
		return err
	}
	copied, err := template(original, o.resourceName)
	if err != nil {
		return err
	}
	name := o.name
	if name == "" {
		name = original.GetName()
	}
	object := tree.Map("apiVersion", kruise.Group+"/"+kruise.V1beta1, "kind", kruise.KindResourceDistribution,
		"metadata", tree.Map("name", tree.String(name)), "spec", tree.Map("resource", copied))
	if err := o.set.Fill(object); err != nil {
		return err
	}
	if tree.Get(object, "spec", "targets") == nil {
		return command.Usagef("give --include, --namespace-selector or --all-namespaces", "no target namespaces given")
	}
	if tree.StrAt(copied, "metadata", "name") == original.GetName() {
		if err := o.spare(object, original.GetNamespace()); err != nil {
			return err
		}
	}
	return o.sending.Send(ctx, object)
}

// original reads the object that the arguments name, as TYPE/NAME or TYPE NAME.
func (o *options) original(args []string) (*unstructured.Unstructured, error) {
	const hint = "for instance secret/registry or configmap/settings"
	if len(args) == 0 || len(args) > 2 || len(args) == 1 && !strings.Contains(args[0], "/") {
		return nil, command.Usagef(hint, "one Secret or ConfigMap is wanted")
	}
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	infos, err := cli.NewBuilder(kubectl.Getter(o.factory)).Unstructured().
		NamespaceParam(namespace).DefaultNamespace().ResourceTypeOrNameArgs(false, args...).Flatten().Latest().Do().Infos()
	switch {
	case err != nil:
		return nil, err
	case len(infos) != 1:
		return nil, command.Usagef(hint, "one Secret or ConfigMap is wanted, not %d objects", len(infos))
	}
	u := infos[0].Object.(*unstructured.Unstructured)
	if u.GetAPIVersion() != "v1" || u.GetKind() != "Secret" && u.GetKind() != "ConfigMap" {
		return nil, command.Usagef(hint, "Kruise distributes Secrets and ConfigMaps, not a %s", u.GetKind())
	}
	return u, nil
}

// spare leaves the original's namespace out where it would be chosen: Kruise reports a
// conflict for what is there and not its own.
func (o *options) spare(object *tree.Node, namespace string) error {
	targets := tree.Get(object, "spec", "targets")
	if n, _ := tree.Find(tree.Get(targets, "includedNamespaces", "list"), "name", namespace); n != nil && !tree.Bool(tree.Get(targets, "allNamespaces")) {
		return command.Usagef("leave it out, or give the copies another name by --resource-name", "the original is in namespace %s", namespace)
	}
	wide := tree.Bool(tree.Get(targets, "allNamespaces")) || tree.Get(targets, "namespaceSelector") != nil
	list := tree.Get(targets, "excludedNamespaces", "list")
	if n, _ := tree.Find(list, "name", namespace); !wide || n != nil {
		return nil
	}
	if err := fields.Put(object, excluded, tree.Seq(append(tree.Items(list), tree.Map("name", tree.String(namespace)))...)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.factory.Streams.Err, "namespace %s is left out: the original is there\n", namespace)
	return err
}
