package change

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	deletecmd "k8s.io/kubectl/pkg/cmd/delete"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const deleteLong = `Delete objects, as kubectl does. If Kruise refuses it, the reason is reported: the deletion
protection of the object, or the PodUnavailableBudget of a pod.`

const deleteExample = `  kubectl kruise delete cloneset/web

  # leave the pods running
  kubectl kruise delete cloneset/web --cascade=orphan

  kubectl kruise delete -f web.yaml --dry-run=server`

type deleteOptions struct {
	factory *factory.Factory
	flags   *deletecmd.DeleteFlags
}

// NewDelete returns the verb.
func NewDelete(f *factory.Factory) *cobra.Command {
	o := &deleteOptions{factory: f, flags: deletecmd.NewDeleteCommandFlags("with the objects to delete")}
	c := &cobra.Command{
		Use: "delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])", Short: "Delete objects, and report what blocks the deletion",
		Long: deleteLong, Example: deleteExample, SuggestFor: []string{"rm", "remove"},
		RunE:              func(c *cobra.Command, args []string) error { return o.run(c, args) },
		ValidArgsFunction: kubectl.Names(f),
	}
	o.flags.AddFlags(c)
	cmdutil.AddDryRunFlag(c)
	return c
}

func (o *deleteOptions) run(c *cobra.Command, args []string) error {
	d, err := o.flags.ToOptions(nil, kubectl.Streams(o.factory))
	if err != nil {
		return err
	}
	tools := kubectl.Factory(o.factory)
	if err := d.Complete(tools, args, c); err != nil {
		return kubectl.Err(err)
	}
	if err := d.Validate(); err != nil {
		return kubectl.Err(err)
	}
	return o.withAdvice(c.Context(), d.RunDelete(tools), args)
}

// withAdvice has every failure as an error of its own, refusals with advice.
func (o *deleteOptions) withAdvice(ctx context.Context, err error, args []string) error {
	if err == nil {
		return nil
	}
	if many, ok := errors.AsType[utilerrors.Aggregate](err); ok {
		var out resource.Errors
		for _, e := range many.Errors() {
			out.Add(o.withAdvice(ctx, e, args))
		}
		return out.Err()
	}
	if hint := o.advice(ctx, err, args); hint != "" {
		return &resource.Error{Err: err, Hint: hint}
	}
	return kubectl.Err(err)
}

// advice describes what to do about a refusal of Kruise's, or of the policies that are
// rendered in its place; "" for other errors. The texts are those of
// docs/kruise/protection.md#podunavailablebudget and docs/kruise/protection.md#deletion-protection.
func (o *deleteOptions) advice(ctx context.Context, err error, args []string) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	text := err.Error()
	if strings.Contains(text, "forbidden by ResourcesProtectionDeletion") {
		return o.protection(text, args)
	}
	if m := budgetPattern.FindStringSubmatch(text); m != nil {
		return o.budget(ctx, m[1])
	}
	return ""
}

// budgetPattern finds the budget in a refusal.
var budgetPattern = regexp.MustCompile(`podunavailablebudget\.policy\.kruise\.io "([^"]+)" is forbidden`)

// protection names the objects that are protected: the refusal does not.
func (o *deleteOptions) protection(text string, args []string) string {
	lift := "'kubectl kruise unprotect TYPE/NAME' lifts it"
	if names := o.protectedObjects(args); len(names) > 0 {
		lift = "'kubectl kruise unprotect " + strings.Join(names, " ") + "' lifts it"
	}
	if strings.Contains(text, "="+kruise.DeleteProtectionCascading) {
		return "it may go when nothing is below it any more; " + lift
	}
	return "the label " + kruise.DeleteProtectionLabel + " keeps it; " + lift
}

// protectedObjects are the objects among the arguments that carry the label. Those of
// standard input are gone.
func (o *deleteOptions) protectedObjects(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil
	}
	selector := ""
	if o.flags.LabelSelector != nil {
		selector = *o.flags.LabelSelector
	}
	all := o.flags.All != nil && *o.flags.All
	infos, err := kubectl.Factory(o.factory).NewBuilder().Unstructured().ContinueOnError().NamespaceParam(namespace).DefaultNamespace().
		LabelSelectorParam(selector).SelectAllParam(all).ResourceTypeOrNameArgs(false, args...).Flatten().Do().Infos()
	if err != nil && len(infos) == 0 {
		return nil
	}
	var out []string
	for _, info := range infos {
		if u, ok := info.Object.(*unstructured.Unstructured); ok && u.GetLabels()[kruise.DeleteProtectionLabel] != "" {
			kind := schema.GroupKind{Group: u.GroupVersionKind().Group, Kind: strings.ToLower(u.GetKind())}
			out = append(out, kind.String()+"/"+u.GetName())
		}
	}
	return slices.Compact(out)
}

// budget returns the state of a PodUnavailableBudget in words.
func (o *deleteOptions) budget(ctx context.Context, name string) string {
	hint := "PodUnavailableBudget " + name + " lets no more pods go now: wait until others are ready, then try again"
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return hint
	}
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		gvr := schema.GroupVersionResource{Group: kruise.PolicyGroup, Version: version, Resource: "podunavailablebudgets"}
		u, err := client.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			continue
		}
		available, _, _ := unstructured.NestedInt64(u.Object, "status", "currentAvailable")
		desired, _, _ := unstructured.NestedInt64(u.Object, "status", "desiredAvailable")
		total, _, _ := unstructured.NestedInt64(u.Object, "status", "totalReplicas")
		return hint + fmt.Sprintf(" (%d of %s available, %d must be)", available, counted.Of(int(total), "pod"), desired)
	}
	return hint
}
