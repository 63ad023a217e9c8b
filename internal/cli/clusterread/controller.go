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

// FindController finds out who else drives a workload: a Kruise Rollout that has it in hand, or
// the UnitedDeployment that it is a subset of; nil for none. With an error, which is
// about Kruise Rollout, not considered: that.
func FindController(ctx context.Context, c dynamic.Interface, ref cluster.Ref, object *resource.Resource) (*diagnose.Controller, error) {
	r, err := release.Of(ctx, c, ref)
	if err == nil && r != nil && r.Controls() {
		controller := &diagnose.Controller{Name: "Kruise Rollout " + r.Name, Status: r.Describe(), Waits: r.Waits(), Next: command("status", "rollout/"+r.Name, ref.Namespace)}
		if verb := r.Next(); verb != "" {
			controller.Next = command(verb, "rollout/"+r.Name, ref.Namespace)
		}
		return controller, nil
	}
	for _, owner := range tree.Items(tree.Get(object.Node(), "metadata", "ownerReferences")) {
		if tree.StrAt(owner, "kind") == kruise.KindUnitedDeployment && resource.GroupOf(tree.StrAt(owner, "apiVersion")) == kruise.Group {
			name := tree.StrAt(owner, "name")
			return &diagnose.Controller{
				Name: "UnitedDeployment " + name, Next: command("run", "uniteddeployment/"+name, ref.Namespace),
				Status: "it writes the partition of its subset " + object.Labels()[kruise.SubsetNameLabel],
			}, err
		}
	}
	return nil, err
}

// command is a command line of a verb of rollouts: it can be copied.
func command(verb, name, namespace string) string {
	text := "kubectl kruise rollout " + verb + " " + name
	if namespace != "" {
		text += " -n " + namespace
	}
	return text
}
