package delete

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// advice says what to do about a refusal of Kruise's, or of the policies that are
// rendered in its place; "" for other errors. The texts are those of
// docs/kruise/protection.md#podunavailablebudget and docs/kruise/protection.md#deletion-protection.
func (o *options) advice(ctx context.Context, err error, args []string) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	text := err.Error()
	if strings.Contains(text, "forbidden by ResourcesProtectionDeletion") {
		return o.protection(text, args)
	}
	if m := budgetIn.FindStringSubmatch(text); m != nil {
		return o.budget(ctx, m[1])
	}
	return ""
}

// budgetIn finds the budget in a refusal.
var budgetIn = regexp.MustCompile(`podunavailablebudget\.policy\.kruise\.io "([^"]+)" is forbidden`)

// protection names the objects that are protected: the refusal does not.
func (o *options) protection(text string, args []string) string {
	lift := "'kubectl kruise unprotect TYPE/NAME' lifts it"
	if names := o.protected(args); len(names) > 0 {
		lift = "'kubectl kruise unprotect " + strings.Join(names, " ") + "' lifts it"
	}
	if strings.Contains(text, "="+kruise.DeleteProtectionCascading) {
		return "it may go when nothing is below it any more; " + lift
	}
	return "the label " + kruise.DeleteProtectionLabel + " keeps it; " + lift
}

// protected are the objects among the arguments that carry the label. Those of
// standard input are gone.
func (o *options) protected(args []string) []string {
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

// budget says how a PodUnavailableBudget stands.
func (o *options) budget(ctx context.Context, name string) string {
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
		return hint + fmt.Sprintf(" (%d of %d pods available, %d must be)", available, total, desired)
	}
	return hint
}
