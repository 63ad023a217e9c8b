package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// parts names the workloads that a UnitedDeployment stands for.
type parts func(ctx context.Context, united string) ([]string, error)

// inParts are names with the workloads of a UnitedDeployment in its place.
func inParts(ctx context.Context, list []string, of parts) ([]string, error) {
	var out []string
	for _, arg := range list {
		name, ok := resourcearg.ParseUnited(arg)
		if !ok {
			out = append(out, arg)
			continue
		}
		more, err := of(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// subsetsOf are the workloads of the subsets in the order given, or, without Kruise,
// those that the UnitedDeployment was rendered into.
func (c *common) subsetsOf(ctx context.Context, name string) ([]string, error) {
	names, err := c.subsetNames(ctx, name)
	var out []string
	for _, n := range names {
		out = append(out, n.String())
	}
	return out, err
}

func (c *common) subsetNames(ctx context.Context, name string) ([]resourcearg.Name, error) {
	client, namespace, err := c.factory.InNamespace()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	if !errors.Is(err, united.ErrNone) {
		if err != nil {
			return nil, err
		}
		return clusterread.SubsetWorkloads(ctx, client, u)
	}
	names, err := clusterread.RenderedWorkloads(ctx, client, namespace, kruise.KindUnitedDeployment, name)
	if err == nil && len(names) == 0 {
		err = &resource.Error{Err: fmt.Errorf("uniteddeployment/%s is not in namespace %s, nor anything rendered from it", name, namespace), Hint: "check the name and -n"}
	}
	return names, err
}

// inFlight are those of the subsets' workloads that a rollout is under way for, or has
// halted. There is none for a UnitedDeployment itself, whose subsets take turns.
func (c *common) inFlight(ctx context.Context, name string) ([]string, error) {
	names, err := c.subsetNames(ctx, name)
	if err != nil {
		return nil, err
	}
	rollouts, err := c.rollouts()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		s, err := c.locate(ctx, n)
		if err != nil {
			return nil, err
		}
		rec, err := rollouts.Get(ctx, s.target.Ref)
		switch {
		case errors.Is(err, plan.ErrNoRollout):
		case err != nil:
			return nil, err
		case rec.State() != plan.StateDone:
			out = append(out, n.String())
		}
	}
	if len(out) == 0 {
		return nil, &resource.Error{
			Err:  fmt.Errorf("uniteddeployment/%s: no rollout of its subsets is in progress", name),
			Hint: "start one, or continue with the next subset, with 'kubectl kruise rollout run uniteddeployment/" + name + "'",
		}
	}
	return out, nil
}
