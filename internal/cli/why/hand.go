package why

import (
	"context"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/observe"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// hand finds out who else drives the workload: a Kruise Rollout that has it in hand,
// or the UnitedDeployment that it is a subset of.
func (o *options) hand(ctx context.Context, q *diagnose.Question, res *observe.Result) {
	r, err := release.Of(ctx, o.dynamic, res.Ref)
	switch {
	case err != nil:
		o.warn("the answer goes without Kruise Rollout: %v", err)
	case r != nil && r.Holds():
		q.Hand = &diagnose.Hand{Name: "Kruise Rollout " + r.Name, Stands: r.Stands(), Waits: r.Waits(), Next: "kubectl kruise rollout status rollout/" + r.Name}
		if verb := r.Next(); verb != "" {
			q.Hand.Next = "kubectl kruise rollout " + verb + " rollout/" + r.Name
		}
		return
	}
	for _, owner := range tree.Items(tree.Get(res.Object.Node(), "metadata", "ownerReferences")) {
		if tree.StrAt(owner, "kind") == "UnitedDeployment" && resource.GroupOf(tree.StrAt(owner, "apiVersion")) == kruise.Group {
			name := tree.StrAt(owner, "name")
			q.Hand = &diagnose.Hand{
				Name: "UnitedDeployment " + name, Next: "kubectl kruise rollout run uniteddeployment/" + name,
				Stands: "it writes the partition of its subset " + res.Object.Labels()[kruise.SubsetNameLabel],
			}
		}
	}
}
