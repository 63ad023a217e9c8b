package doctor

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// whyUnited answers for a UnitedDeployment: for each of its subsets, in the order given.
func (o *whyOptions) whyUnited(ctx context.Context, arg, name string) (view.Diagnosed, error) {
	out := view.Diagnosed{Diagnosis: diagnose.Diagnosis{About: arg, Causes: []diagnose.Cause{}}}
	namespace, err := o.clients()
	if err != nil {
		return out, err
	}
	u, names, err := o.subsets(ctx, namespace, name)
	if err != nil {
		return out, err
	}
	for _, n := range names {
		d, err := o.workload(ctx, n, namespace)
		if err != nil {
			return out, err
		}
		out.Subsets = append(out.Subsets, d)
	}
	out.Answer = subsetSummary(out.Subsets)
	if u != nil {
		out.Placement = o.placement(ctx, arg)
	}
	if u != nil && u.Observed < u.Generation {
		out.Answer = "progressing: Kruise has not processed the latest change yet; " + out.Answer
	}
	return out, nil
}

// subsets are the workloads of a UnitedDeployment, or those that it was rendered into.
func (o *whyOptions) subsets(ctx context.Context, namespace, name string) (*united.Object, []resourcearg.Name, error) {
	u, err := united.Get(ctx, o.dynamic, namespace, name)
	if err == nil {
		names, err := clusterread.SubsetWorkloads(ctx, o.dynamic, u)
		return u, names, err
	}
	if !apierrors.IsNotFound(err) {
		return nil, nil, err
	}
	names, err := clusterread.RenderedWorkloads(ctx, o.dynamic, namespace, kruise.KindUnitedDeployment, name)
	if err == nil && len(names) == 0 {
		err = resourcearg.NotFound(united.Resource(kruise.V1beta1).GroupResource(), name, namespace)
	}
	return nil, names, err
}

// subsetSummary says in one line how the subsets stand: the first that does not pass by itself
// is the answer.
func subsetSummary(subsets []view.Diagnosed) string {
	blocked := slices.IndexFunc(subsets, func(d view.Diagnosed) bool {
		return slices.ContainsFunc(d.Causes, func(c diagnose.Cause) bool { return c.Blocked })
	})
	waits := 0
	for _, d := range subsets {
		if len(d.Causes) > 0 {
			waits++
		}
	}
	switch {
	case blocked >= 0:
		return fmt.Sprintf("subset %d of %d, %s: %s", blocked+1, len(subsets), subsets[blocked].About, subsets[blocked].Answer)
	case waits > 0:
		return fmt.Sprintf("progressing: %d of %s not up to date", waits, counted.With(len(subsets), "subset is", "subsets are"))
	}
	return fmt.Sprintf("%d of %s up to date", len(subsets), counted.With(len(subsets), "subset is", "subsets are"))
}
