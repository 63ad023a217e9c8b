package create

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// protectedOperations are those that a budget can refuse.
var protectedOperations = []string{string(kruise.PubDeleteOperation), string(kruise.PubUpdateOperation), string(kruise.PubEvictOperation), string(kruise.PubResizeOperation)}

var budgetFields = []Field{
	{Flag: "selector", Path: "spec.selector", Shape: Selector, Help: "label selector of the pods"},
	{Flag: "max-unavailable", Path: "spec.maxUnavailable", Shape: Amount, Help: "number or percentage of pods that may be unavailable"},
	{Flag: "min-available", Path: "spec.minAvailable", Shape: Amount, Help: "number or percentage of pods that must be available"},
	{Flag: "protect-operations", Path: "spec.protectOperations", Shape: Texts, Help: "operations that the budget protects from (default DELETE, UPDATE and EVICT)", Legal: protectedOperations},
	{Flag: "protect-total-replicas", Path: "spec.protectTotalReplicas", Shape: Number, Help: "number of desired pods (default: replicas of the workload)"},
	{Flag: "ignored-pod-selector", Path: "spec.ignoredPodSelector", Shape: Selector, Help: "label selector of pods that the budget ignores"},
}

func newBudget(f *factory.Factory) *cobra.Command {
	c := &cobra.Command{
		Use:     "podunavailablebudget NAME (--target TYPE/NAME | --selector SELECTOR) (--max-unavailable N | --min-available N)",
		Aliases: []string{kruise.KindPodUnavailableBudget, "podUnavailableBudget", "podunavailablebudgets", "pub"},
		Short:   "Create a PodUnavailableBudget: protect pods",
		Example: `  # at most one pod of a workload down
  kubectl kruise create podunavailablebudget web --target cloneset/web --max-unavailable 1

  # pods by labels, evictions only
  kubectl kruise create pub web --selector app=web --min-available 80% --protect-operations EVICT`,
	}
	o := newForm(f, c, kruise.KindPodUnavailableBudget, &kruise.PodUnavailableBudget{}, budgetFields)
	c.Flags().StringVar(&o.target, "target", "", "workload whose pods the budget protects, TYPE/NAME")
	_ = c.RegisterFlagCompletionFunc("target", resourcearg.CompleteNameFlag(f))
	return c
}

// targetReference points to a workload, in the newest version of its kind that a release of
// Kruise serves.
func targetReference(target string) (*tree.Node, error) {
	n, err := resourcearg.Parse(target)
	if err != nil {
		return nil, err
	}
	kind, version := n.Kinds[0], "v1"
	for _, k := range kruise.Kinds() {
		if k.Group == kind.Group && k.Kind == kind.Kind {
			served := kruise.NewestRelease.Versions(k.Group, k.Kind)
			version = served[len(served)-1]
		}
	}
	return tree.Map("apiVersion", tree.String(kind.Group+"/"+version), "kind", tree.String(kind.Kind), "name", tree.String(n.Name)), nil
}
