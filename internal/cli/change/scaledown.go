package change

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

const scaleDownLong = `Scale down by deleting the named pods, and reduce the replicas by their number. Each must
be a pod of the workload that is not terminating; otherwise nothing is written.

CloneSets put the names into spec.scaleStrategy.podsToDelete. Advanced StatefulSets
reserve the ordinals (spec.reserveOrdinals), which stay unused until they are removed
from that list. Both are written together with spec.replicas. A rollout in progress
continues with the new number, and a note says what that means for its steps.`

const scaleDownExample = `  kubectl kruise scaledown cloneset/web --pods web-x7k2p,web-9lqzd

  # the form of the older plugin
  kubectl kruise scaledown CloneSet web --pods web-x7k2p

  # what would be written
  kubectl kruise scaledown statefulset.apps.kruise.io/db --pods db-1 --dry-run=client -o yaml`

type scaleDownOptions struct {
	edit

	pods []string
}

// NewScaleDown returns the verb.
func NewScaleDown(f *factory.Factory) *cobra.Command {
	o := &scaleDownOptions{edit: edit{
		Factory: f, Done: "selective pod deletion", Remote: true, Single: true, Types: []string{"cloneset", "statefulset.apps.kruise.io"},
	}}
	o.Notes = o
	c := &cobra.Command{
		Use: "scaledown TYPE/NAME --pods POD,…", Short: "Scale down by deleting the named pods", Long: scaleDownLong, Example: scaleDownExample,
		RunE: func(c *cobra.Command, args []string) error {
			if o.pods = trimNames(o.pods); len(o.pods) == 0 {
				return command.Usagef("for instance --pods web-x7k2p", "must specify one pod name")
			}
			if err := o.Complete(c, args); err != nil {
				return err
			}
			return o.Each(args, func(u *unstructured.Unstructured) error { return o.scaleDown(c.Context(), u) })
		},
	}
	o.AddFlags(c)
	c.Flags().StringSliceVar(&o.pods, "pods", nil, "names of the pods to delete")
	// The error says that the flag does not exist, which it does.
	_ = c.RegisterFlagCompletionFunc("pods", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completePods(f, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return c
}

// completePods offers pods for the last name of a list.
func completePods(f *factory.Factory, typed string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	out := completion.CompGetResource(kubectl.Factory(f), "pods", typed[len(before):])
	for i := range out {
		out[i] = before + out[i]
	}
	return out
}

// trimNames takes names as people type them: each once, without spaces around it.
func trimNames(names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// wrote prints the older plugin's line, where the output is text.
func (o *scaleDownOptions) wrote(info *resource.Info) error {
	if o.Output() != "" || o.Only() {
		return nil
	}
	_, err := fmt.Fprintf(o.Factory.Streams.Out, "# %s delete pods %v successfully\n", info.Name, o.pods)
	return err
}

// scaleDown removes the pods from a workload.
func (o *scaleDownOptions) scaleDown(ctx context.Context, u *unstructured.Unstructured) error {
	take, err := podRemoverFor(u)
	if err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(u); owner != nil {
		return &tree.Error{Path: "spec.replicas", Msg: fmt.Sprintf("is written by %s %s", owner.Kind, owner.Name), Hint: "scale that, or delete the pods with the label apps.kruise.io/specified-delete"}
	}
	if err := o.check(ctx, u); err != nil {
		return err
	}
	added, err := take(u, o.pods)
	if err != nil {
		return err
	}
	if err := reduceReplicas(u, added); err != nil || o.Only() || added == 0 {
		return err
	}
	return noteScaled(ctx, o.Factory, u)
}

// reduceReplicas takes so many from the replicas.
func reduceReplicas(u *unstructured.Unstructured, by int) error {
	replicas, found, err := unstructured.NestedInt64(u.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	if !found {
		replicas = 1 // as Kruise's webhook fills it in
	}
	return unstructured.SetNestedField(u.Object, max(replicas-int64(by), 0), "spec", "replicas")
}

// podRemover marks pods to go; added is how many were not marked before.
type podRemover func(u *unstructured.Unstructured, pods []string) (added int, err error)

func podRemoverFor(u *unstructured.Unstructured) (podRemover, error) {
	switch u.GroupVersionKind().GroupKind().String() {
	case "CloneSet." + kruise.Group:
		return podsToDelete, nil
	case "StatefulSet." + kruise.Group:
		if kruise.Serves(kruise.Group, kruise.KindStatefulSet, u.GroupVersionKind().Version) && u.GroupVersionKind().Version != kruise.V1alpha1 {
			return reserveOrdinals, nil
		}
	}
	hint := "Kubernetes' own workloads choose by themselves: the annotation controller.kubernetes.io/pod-deletion-cost on pods of a Deployment or ReplicaSet is a wish"
	if u.GetKind() == kruise.KindUnitedDeployment {
		hint = "name the workload of a subset with the label apps.kruise.io/specified-delete on its pods"
	}
	return nil, &tree.Error{Msg: "currently only supported CloneSet and Advanced StatefulSet selective pods deletion", Hint: hint}
}

// podsToDelete: docs/kruise/workloads.md#named-pods-and-claims. Kruise takes names out of the list
// when the pods are gone.
func podsToDelete(u *unstructured.Unstructured, pods []string) (int, error) {
	field := []string{"spec", "scaleStrategy", "podsToDelete"}
	list, _, err := unstructured.NestedStringSlice(u.Object, field...)
	if err != nil {
		return 0, err
	}
	before := len(list)
	for _, p := range pods {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return len(list) - before, unstructured.SetNestedStringSlice(u.Object, list, field...)
}

// reserveOrdinals: docs/kruise/workloads.md#advanced-statefulset and
// docs/kruise/workloads.md#fields-to-patch. A pod whose ordinal is reserved is on its way out
// already, though a hook or its replacement may hold it.
func reserveOrdinals(u *unstructured.Unstructured, pods []string) (int, error) {
	list, _, err := unstructured.NestedSlice(u.Object, "spec", "reserveOrdinals")
	if err != nil {
		return 0, err
	}
	reserved, added := rules.Reserved(intOrStrings(list)), 0
	for _, p := range pods {
		n, err := strconv.ParseInt(strings.TrimPrefix(p, u.GetName()+"-"), 10, 32)
		if err != nil {
			return 0, &tree.Error{Msg: fmt.Sprintf("pod %s has no ordinal", p)}
		}
		if !reserved(int(n)) {
			list, added = append(list, n), added+1
		}
	}
	return added, unstructured.SetNestedSlice(u.Object, list, "spec", "reserveOrdinals")
}

// intOrStrings are those of reserveOrdinals, numbers and ranges.
func intOrStrings(list []any) []intstr.IntOrString {
	out := make([]intstr.IntOrString, len(list))
	for i, v := range list {
		out[i] = intstr.FromString(fmt.Sprint(v))
	}
	return out
}

// check refuses pods that are not the workload's, or go already: it would have fewer
// pods, and others would go.
func (o *scaleDownOptions) check(ctx context.Context, u *unstructured.Unstructured) error {
	client, err := o.Factory.Dynamic()
	if err != nil {
		return err
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(u.GetNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot read pods: %w", err)
	}
	own := podsOfWorkload(u, list.Items)
	var wrong []string
	for _, p := range o.pods {
		if !slices.Contains(own, p) {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &tree.Error{Msg: "has no pod " + strings.Join(wrong, ", ") + " that is not being deleted", Hint: "it has " + firstNames(own)}
}

// podsOfWorkload are the names of a workload's pods that stay, in order.
func podsOfWorkload(u *unstructured.Unstructured, pods []unstructured.Unstructured) []string {
	var out []string
	for i := range pods {
		p := &pods[i]
		owner := metav1.GetControllerOf(p)
		phase, _, _ := unstructured.NestedString(p.Object, "status", "phase")
		done := phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed)
		if owner != nil && owner.UID == u.GetUID() && p.GetDeletionTimestamp() == nil && !done {
			out = append(out, p.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// maxNamedPods is how many pods an error names.
const maxNamedPods = 10

func firstNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > maxNamedPods {
		return strings.Join(names[:maxNamedPods], ", ") + fmt.Sprintf(" and %d more", len(names)-maxNamedPods)
	}
	return strings.Join(names, ", ")
}
