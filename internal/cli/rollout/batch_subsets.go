package rollout

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Subsets are the rollouts of a UnitedDeployment: one for each subset.
type Subsets struct {
	batch *Batch
	// object is the UnitedDeployment as it is.
	object *united.Object
}

// Subsets reads a UnitedDeployment.
func (b *Batch) Subsets(ctx context.Context, namespace, name string) (*Subsets, error) {
	client, err := b.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	u, err := united.Get(ctx, client, namespace, name)
	return &Subsets{b, u}, err
}

// Each does something for the workload of each subset, in the order given, and stops
// at the first error.
func (s *Subsets) Each(ctx context.Context, do func(*Part) error) error {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	names, err := clusterread.SubsetWorkloads(ctx, client, s.object)
	if err != nil {
		return err
	}
	for _, name := range names {
		found, err := s.batch.locateIn(ctx, name, s.object.Namespace)
		if err != nil {
			return err
		}
		p := &Part{batch: s.batch, session: found, name: name, counted: true}
		if err := s.batch.watch(ctx, found); err != nil {
			return err
		}
		err = do(p)
		p.Close()
		if err != nil {
			return fmt.Errorf("subset %s: %w", p.subset(), err)
		}
	}
	return nil
}

// Show shows the plan of each subset.
func (s *Subsets) Show(ctx context.Context, final *unstructured.Unstructured) error {
	to := united.Read(final)
	_, _ = fmt.Fprintf(s.batch.factory.Streams.Err, "UnitedDeployment %s rolls out its subsets one after the other: %s\n", s.object.Name, strings.Join(s.object.Subsets, ", "))
	return s.Each(ctx, func(p *Part) error { return p.Show(ctx, p.follows(s.object, to)) })
}

// Release writes the whole spec, with every subset held back where the template is new, unless it
// is there already. Each then follows by Run.
func (s *Subsets) Release(ctx context.Context, final *unstructured.Unstructured) error {
	patch := s.object.ReleaseSpec(final)
	if patch == nil {
		return nil
	}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	return s.object.Write(ctx, client, patch)
}

// Requests are the writes of Release and Run: the template with all subsets held
// back, then the partition of each subset, step by step.
func (s *Subsets) Requests(ctx context.Context, final *unstructured.Unstructured) ([]event.Request, error) {
	return s.requests(ctx, united.Read(final), s.object.ReleaseSpec(final))
}

// requests are a first write of the UnitedDeployment, if any, and those of its subsets.
func (s *Subsets) requests(ctx context.Context, to *united.Object, first []any) ([]event.Request, error) {
	var out []event.Request
	if first != nil {
		u := s.object
		ref := cluster.Ref{Group: kruise.Group, Kind: kruise.KindUnitedDeployment, Namespace: u.Namespace, Name: u.Name}
		out = append(out, jsonPatch(united.Resource(u.Version), ref, "the template, with all subsets held back", first))
	}
	err := s.Each(ctx, func(p *Part) error {
		made, err := p.Plan(ctx, p.follows(s.object, to))
		for i := range made.Steps {
			if step := &made.Steps[i]; len(step.Patches) > 0 {
				r := partitionRequest(s.object, p.subset(), int32(step.Kept))
				r.Why = "subset " + p.subset() + ": " + step.Title
				out = append(out, r)
			}
		}
		return err
	})
	return out, err
}

// Run rolls the subsets out one after the other. The template is there already.
func (s *Subsets) Run(ctx context.Context, final *unstructured.Unstructured) error {
	to := united.Read(final)
	return s.Each(ctx, func(p *Part) error {
		_, err := p.Run(ctx, p.follows(to, to))
		return err
	})
}

// Settle waits for the pods of all subsets.
func (s *Subsets) Settle(ctx context.Context) error {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	if err := s.object.Await(ctx, client, s.object.Generation); err != nil {
		return err
	}
	return s.Each(ctx, func(p *Part) error { return p.Settle(ctx) })
}

// subset is the name of the subset whose workload a part is.
func (p *Part) subset() string { return p.session.object.Labels()[kruise.SubsetNameLabel] }

// follows is what a subset's workload becomes when its UnitedDeployment does. What
// the controller puts into a subset's template besides stays.
func (p *Part) follows(from, to *united.Object) *resource.Resource {
	object := p.session.object
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n := out.Edit()
	before, after := tree.FromValue(from.PodTemplate()), tree.FromValue(to.PodTemplate())
	if v := gitops.CarryChange(before, after, tree.Get(n, "spec", "template")); v != nil {
		tree.SetAt(n, v, "spec", "template")
	}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		tree.SetAt(n, tree.Int64(to.Partitions[p.subset()]), path...)
	}
	return out
}
