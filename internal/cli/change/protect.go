package change

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

const protectLong = `Protect objects from deletion, by the label policy.kruise.io/delete-protection:

  Always      never deleted while the label is there
  Cascading   not deleted while it has dependents: a workload with replicas above 0,
              a Namespace with pods or bound claims, a CustomResourceDefinition with objects

Supported are Deployments, ReplicaSets, StatefulSets, CloneSets, Advanced StatefulSets,
UnitedDeployments, Namespaces, CustomResourceDefinitions, Services and Ingresses (the last
two only with Always). Kruise's webhook enforces it where its feature gate
ResourcesDeletionProtection is on: by default from Kruise 1.4 to 1.7, and no longer since
1.8. With Always the server is asked, and a warning is printed if nothing would refuse a
deletion. Without Kruise, "kubectl kruise render" turns the label into an admission policy.`

const protectExample = `  kubectl kruise protect cloneset/web

  # all namespaces of a team, unless they are empty
  kubectl kruise protect namespaces -l team=shop --mode Cascading`

var protectTypes = []string{"cloneset", "statefulset.apps.kruise.io", "uniteddeployment", "deployment", "statefulset", "replicaset", "namespace", "service", "ingress", "customresourcedefinition"}

// NewProtect returns the verb protect.
func NewProtect(f *factory.Factory) *cobra.Command {
	v := &edit{Factory: f, Done: "protected", Types: protectTypes}
	modes := []string{kruise.DeleteProtectionAlways, kruise.DeleteProtectionCascading}
	mode := modes[0]
	c := &cobra.Command{
		Use: "protect (-f FILENAME | TYPE NAME)", Short: "Protect objects from deletion", Long: protectLong, Example: protectExample,
		RunE: func(c *cobra.Command, args []string) error {
			if err := command.OneOf("mode", mode, modes...); err != nil {
				return err
			}
			if err := v.Complete(c, args); err != nil {
				return err
			}
			if mode == kruise.DeleteProtectionAlways && !v.Only() {
				v.Notes = protectionWarnings{f.Streams.Err}
			}
			return v.Each(args, func(u *unstructured.Unstructured) error { return protect(u, mode) })
		},
	}
	v.AddFlags(c)
	c.Flags().StringVar(&mode, "mode", mode, "Always or Cascading")
	command.Offer(c, "mode", modes...)
	return c
}

// NewUnprotect returns the verb unprotect.
func NewUnprotect(f *factory.Factory) *cobra.Command {
	v := &edit{Factory: f, Done: "unprotected", Types: protectTypes}
	c := &cobra.Command{
		Use: "unprotect (-f FILENAME | TYPE NAME)", Short: "Remove the deletion protection of objects",
		Long:    "Remove the label policy.kruise.io/delete-protection.",
		Example: "  kubectl kruise unprotect cloneset/web",
		RunE: func(c *cobra.Command, args []string) error {
			if err := v.Complete(c, args); err != nil {
				return err
			}
			return v.Each(args, func(u *unstructured.Unstructured) error {
				labels := u.GetLabels()
				delete(labels, kruise.DeleteProtectionLabel)
				u.SetLabels(labels)
				return nil
			})
		},
	}
	v.AddFlags(c)
	return c
}

// protect sets the label, where it does something.
func protect(u *unstructured.Unstructured, mode string) error {
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[kruise.DeleteProtectionLabel] = mode
	ref := cluster.Ref{Group: u.GroupVersionKind().Group, Kind: u.GetKind()}
	if controller.RefuseDeletion(ref, labels, controller.Content{Pods: 1}) == "" {
		hint := ""
		if mode == kruise.DeleteProtectionCascading {
			hint = "--mode Always protects Services and Ingresses"
		}
		return &tree.Error{Msg: fmt.Sprintf("%s protects no %s", mode, u.GetKind()), Hint: hint}
	}
	u.SetLabels(labels)
	return nil
}

// protectionWarnings say of an object that the server would delete it all the same.
type protectionWarnings struct{ to io.Writer }

func (w protectionWarnings) wrote(info *resource.Info) error {
	_, err := resource.NewHelper(info.Client, info.Mapping).DeleteWithOptions(info.Namespace, info.Name, &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil //nolint:nilerr // a refusal is what was wanted, and others say nothing
	}
	_, err = fmt.Fprintf(w.to, "warning: nothing refuses to delete %s: Kruise's feature gate ResourcesDeletionProtection is off, or Kruise is not installed; 'kubectl kruise render' makes an admission policy of the label\n", info.ObjectName())
	return err
}
