package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cli "k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const distributeLong = `Create a ResourceDistribution from a Secret or ConfigMap of the cluster: Kruise then
keeps a copy of it in each selected namespace. Later changes of the original are not
copied: its content is part of the ResourceDistribution.

The namespace of the original is left out, since Kruise does not take over existing
objects. Values are shown only with -o yaml, json or a template, and in no message.`

const distributeExample = `  # to two namespaces
  kubectl kruise distribute configmap/settings --include shop,api

  # to all namespaces of a team, under another name
  kubectl kruise distribute secret/registry -n ci --namespace-selector team=shop --resource-name pull --name ci-registry

  # a manifest for Git
  kubectl kruise distribute configmap/settings -A --dry-run=client -o yaml > settings.yaml`

// targetFields are the flags that choose the namespaces of a ResourceDistribution.
var targetFields = []Field{
	{Flag: "all-namespaces", Short: "A", Path: "spec.targets.allNamespaces", Shape: Truth, Help: "copy to all namespaces"},
	{Flag: "include", Path: "spec.targets.includedNamespaces.list", Shape: Names, Help: "namespaces to copy to"},
	{Flag: "exclude", Path: excludedPath, Shape: Names, Help: "namespaces that get no copy, whatever other flags select"},
	{Flag: "namespace-selector", Path: "spec.targets.namespaceSelector", Shape: Selector, Help: "label selector of namespaces to copy to"},
}

const excludedPath = "spec.targets.excludedNamespaces.list"

type distributeOptions struct {
	factory *factory.Factory
	sending *submit.CreateOptions
	set     *FlagSet

	name, resourceName string
}

// NewDistribute returns the verb.
func NewDistribute(f *factory.Factory) *cobra.Command {
	o := &distributeOptions{factory: f, sending: submit.NewCreateOptions(f)}
	c := &cobra.Command{
		Use: "distribute (secret | configmap)/NAME (--include A,B | --all-namespaces | --namespace-selector SELECTOR)", DisableFlagsInUseLine: true,
		Short: "Copy a Secret or ConfigMap into namespaces", Long: distributeLong, Example: distributeExample,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.sending.Complete(); err != nil {
				return err
			}
			return o.run(c.Context(), args)
		},
		ValidArgsFunction: kubectl.Names(f, "secret", "configmap"),
	}
	c.Flags().StringVar(&o.name, "name", "", "name of the ResourceDistribution (default: that of the original)")
	c.Flags().StringVar(&o.resourceName, "resource-name", "", "name of the copies (default: that of the original)")
	o.sending.AddFlags(c)
	o.set = BindFields(c, append(slices.Clip(targetFields), metadataFields...))
	return c
}

func (o *distributeOptions) run(ctx context.Context, args []string) error {
	original, err := o.original(args)
	if err != nil {
		return err
	}
	copied, err := distributedTemplate(original, o.resourceName)
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
func (o *distributeOptions) original(args []string) (*unstructured.Unstructured, error) {
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
		return nil, command.Usagef(hint, "one Secret or ConfigMap is wanted, not %s", counted.Of(len(infos), "object"))
	}
	u := infos[0].Object.(*unstructured.Unstructured)
	if u.GetAPIVersion() != "v1" || u.GetKind() != "Secret" && u.GetKind() != "ConfigMap" {
		return nil, command.Usagef(hint, "Kruise distributes Secrets and ConfigMaps, not a %s", u.GetKind())
	}
	return u, nil
}

// spare leaves the original's namespace out where it would be chosen: Kruise reports a
// conflict for what is there and not its own.
func (o *distributeOptions) spare(object *tree.Node, namespace string) error {
	targets := tree.Get(object, "spec", "targets")
	if n, _ := tree.Find(tree.Get(targets, "includedNamespaces", "list"), "name", namespace); n != nil && !tree.Bool(tree.Get(targets, "allNamespaces")) {
		return command.Usagef("leave it out, or give the copies another name by --resource-name", "the original is in namespace %s", namespace)
	}
	wide := tree.Bool(tree.Get(targets, "allNamespaces")) || tree.Get(targets, "namespaceSelector") != nil
	list := tree.Get(targets, "excludedNamespaces", "list")
	if n, _ := tree.Find(list, "name", namespace); !wide || n != nil {
		return nil
	}
	if err := PutField(object, excludedPath, tree.Seq(append(tree.Items(list), tree.Map("name", tree.String(namespace)))...)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.factory.Streams.Err, "namespace %s is left out: the original is there\n", namespace)
	return err
}

// ownLabels are annotations that belong to the original alone.
var ownLabels = []string{
	corev1.LastAppliedConfigAnnotation, kruise.ResourceDistributedByAnnotation, kruise.ResourceHashCodeAnnotation,
}

// boundSecretTypes are types of Secrets that mean nothing beside another object or place.
var boundSecretTypes = map[corev1.SecretType]string{
	corev1.SecretTypeServiceAccountToken: "its token is for one account of its namespace",
	corev1.SecretTypeBootstrapToken:      "it is looked for in kube-system alone",
}

// distributedTemplate is what copies are made from: the content, labels and annotations of the
// original, without what the cluster wrote. name is that of the copies, "" for the same.
func distributedTemplate(original *unstructured.Unstructured, name string) (*tree.Node, error) {
	n := tree.FromValue(original.Object)
	if why := boundSecretTypes[corev1.SecretType(tree.StrAt(n, "type"))]; why != "" {
		return nil, &resource.Error{Err: errors.New("a Secret of type " + tree.StrAt(n, "type") + " cannot be distributed"), Hint: why}
	}
	if name == "" {
		name = original.GetName()
	}
	meta := tree.Map("name", tree.String(name))
	for _, field := range []string{"labels", "annotations"} {
		if texts := tree.Get(n, "metadata", field); len(tree.Items(texts)) > 0 || tree.IsMap(texts) {
			tree.Set(meta, field, texts)
		}
	}
	for _, key := range ownLabels {
		tree.DeleteAt(meta, "annotations", key)
	}
	if a := tree.Get(meta, "annotations"); a != nil && len(a.Content) == 0 {
		tree.Delete(meta, "annotations")
	}
	out := tree.Map("apiVersion", "v1", "kind", original.GetKind(), "metadata", meta)
	for _, field := range []string{"data", "binaryData", "immutable", "type"} {
		if v := tree.Get(n, field); v != nil {
			tree.Set(out, field, v)
		}
	}
	return out, nil
}
