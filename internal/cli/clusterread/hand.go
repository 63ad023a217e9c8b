package clusterread

import (
	"context"

	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// FindHand finds out who else drives a workload: a Kruise Rollout that has it in hand, or
// the UnitedDeployment that it is a subset of; nil for none. With an error, which is
// about Kruise Rollout, not considered: that.
func FindHand(ctx context.Context, c dynamic.Interface, ref cluster.Ref, object *resource.Resource) (*diagnose.Controller, error) {
	r, err := release.Of(ctx, c, ref)
	if err == nil && r != nil && r.Controls() {
		hand := &diagnose.Controller{Name: "Kruise Rollout " + r.Name, Status: r.Describe(), Waits: r.Waits(), Next: "kubectl kruise rollout status rollout/" + r.Name}
		if verb := r.Next(); verb != "" {
			hand.Next = "kubectl kruise rollout " + verb + " rollout/" + r.Name
		}
		return hand, nil
	}
	for _, owner := range tree.Items(tree.Get(object.Node(), "metadata", "ownerReferences")) {
		if tree.StrAt(owner, "kind") == kruise.KindUnitedDeployment && resource.GroupOf(tree.StrAt(owner, "apiVersion")) == kruise.Group {
			name := tree.StrAt(owner, "name")
			return &diagnose.Controller{
				Name: "UnitedDeployment " + name, Next: "kubectl kruise rollout run uniteddeployment/" + name,
				Status: "it writes the partition of its subset " + object.Labels()[kruise.SubsetNameLabel],
			}, err
		}
	}
	return nil, err
}
