package session

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// UnitedAs is what a UnitedDeployment on the command line stands for.
type UnitedAs int

const (
	asItself UnitedAs = iota
	// AsSubsets is the workloads of its subsets in the order given, or, without Kruise, those that it was rendered into.
	AsSubsets
	// AsInProgress is those of them whose rollout is in progress, or has halted.
	AsInProgress
)

// InParts are names with what a UnitedDeployment stands for in its place.
func (c *Client) InParts(ctx context.Context, list []string, as UnitedAs) ([]string, error) {
	var out []string
	for _, arg := range list {
		name, ok := resourcearg.ParseUnited(arg)
		if !ok || as == asItself {
			out = append(out, arg)
			continue
		}
		if as == AsInProgress {
			more, err := c.InFlight(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
			continue
		}
		names, err := c.SubsetNames(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			out = append(out, n.String())
		}
	}
	return out, nil
}

// SubsetNames names the workloads of a UnitedDeployment.
func (c *Client) SubsetNames(ctx context.Context, name string) ([]resourcearg.Name, error) {
	client, namespace, err := c.Factory.InNamespace()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	if !apierrors.IsNotFound(err) {
		if err != nil {
			return nil, err
		}
		return clusterread.SubsetWorkloads(ctx, client, u)
	}
	names, err := clusterread.RenderedWorkloads(ctx, client, namespace, kruise.KindUnitedDeployment, name)
	if err == nil && len(names) == 0 {
		err = resourcearg.NotFound(united.Resource(kruise.V1beta1).GroupResource(), name, namespace)
	}
	return names, err
}

// ErrNoneInFlight indicates that no subset of a UnitedDeployment is being rolled out.
var ErrNoneInFlight = errors.New("no rollout of its subsets is in progress")

// InFlight are those of the subsets' workloads with a rollout that is in progress, or has
// halted. There is none for a UnitedDeployment itself, whose subsets take turns.
func (c *Client) InFlight(ctx context.Context, name string) ([]string, error) {
	names, err := c.SubsetNames(ctx, name)
	if err != nil {
		return nil, err
	}
	rollouts, err := c.Rollouts()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		s, err := c.Locate(ctx, n)
		if err != nil {
			return nil, err
		}
		rec, err := rollouts.Get(ctx, s.Target.Ref)
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
			Err:  fmt.Errorf("uniteddeployment/%s: %w", name, ErrNoneInFlight),
			Hint: "start one, or continue with the next subset, with 'kubectl kruise rollout run uniteddeployment/" + name + "'",
		}
	}
	return out, nil
}
