package rollout

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/gitops"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
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
	names, err := s.names(ctx)
	if err != nil {
		return err
	}
	return s.each(ctx, names, do)
}

// names are the workloads of the subsets, in the order given.
func (s *Subsets) names(ctx context.Context) ([]resourcearg.Name, error) {
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	return clusterread.SubsetWorkloads(ctx, client, s.object)
}

func (s *Subsets) each(ctx context.Context, names []resourcearg.Name, do func(*Part) error) error {
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
	return s.Each(ctx, func(p *Part) error {
		return p.Show(ctx, p.follows(s.object.Template, to.Template, to.Kept(p.subset())))
	})
}

// Release writes the whole spec, with every subset held back where the template is new, unless it
// is there already. Each then follows by Run.
func (s *Subsets) Release(ctx context.Context, final *unstructured.Unstructured) error {
	patch, err := s.specPatch(ctx, final)
	if err != nil || patch == nil {
		return err
	}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return err
	}
	return s.object.Write(ctx, client, patch)
}

// specPatch is the first write of a rollout to a final state; nil where nothing is left to write.
func (s *Subsets) specPatch(ctx context.Context, final *unstructured.Unstructured) ([]any, error) {
	if !united.SameTemplate(s.object.Template, united.Read(final).Template) {
		client, err := s.batch.factory.Dynamic()
		if err != nil {
			return nil, err
		}
		if err := s.object.NoteStart(ctx, client); err != nil {
			return nil, err
		}
	}
	return s.object.ReleaseSpec(final), nil
}

// Requests are the writes of Release and Run: the template with all subsets held
// back, then the partition of each subset, step by step.
func (s *Subsets) Requests(ctx context.Context, final *unstructured.Unstructured) ([]event.Request, error) {
	patch, err := s.specPatch(ctx, final)
	if err != nil {
		return nil, err
	}
	var first []event.Request
	if patch != nil {
		first = append(first, s.firstRequest(patch))
	}
	to := united.Read(final)
	return s.requests(ctx, first, to.Template, to.OwnStrategy(), to.Kept)
}

// firstRequest is the first write of a rollout.
func (s *Subsets) firstRequest(patch []any) event.Request {
	u := s.object
	ref := cluster.Ref{Group: kruise.Group, Kind: kruise.KindUnitedDeployment, Namespace: u.Namespace, Name: u.Name}
	return jsonPatch(united.Resource(u.Version), ref, "the template, with all subsets held back", patch)
}

// requests are a first write and those of the subsets, where the partition of each keeps some pods at the end of
// its plan, and that of the strategy that the object has in the end.
func (s *Subsets) requests(ctx context.Context, out []event.Request, template, strategy map[string]any, kept func(subset string) int64) ([]event.Request, error) {
	u := s.object
	err := s.Each(ctx, func(p *Part) error {
		made, err := p.Plan(ctx, p.follows(u.Template, template, kept(p.subset())))
		for i := range made.Steps {
			if step := &made.Steps[i]; len(step.Patches) > 0 {
				r := partitionRequest(u, p.subset(), int32(step.Kept))
				r.Why = "subset " + p.subset() + ": " + step.Title
				out = append(out, r)
			}
		}
		return err
	})
	if err != nil || len(out) == 0 || !u.Paced() {
		return out, err
	}
	return append(out, s.settleRequest(strategy)), nil
}

// settleRequest is the write that ends a rollout of all subsets.
func (s *Subsets) settleRequest(strategy map[string]any) event.Request {
	u := s.object
	return event.Request{
		Method: http.MethodPatch, Path: kubeobjects.Path(united.Resource(u.Version), u.Namespace, u.Name), ContentType: string(types.MergePatchType),
		Why: "the update strategy as before, once all subsets have the template", Body: u.SettlePatch(strategy, nil),
	}
}

// releaseRequests is the write of a template, unless it is there.
func (s *Subsets) releaseRequests(ctx context.Context, template map[string]any) ([]event.Request, error) {
	u := s.object
	if united.SameTemplate(u.Template, template) {
		return nil, nil
	}
	client, err := s.batch.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	if err := u.NoteStart(ctx, client); err != nil {
		return nil, err
	}
	return []event.Request{s.firstRequest(u.ReleasePatch(template))}, nil
}

// rollbackRequests are the writes of a rollback to a template: the subsets whose pods have another one
// follow, the last one first.
func (s *Subsets) rollbackRequests(ctx context.Context, template map[string]any) ([]event.Request, error) {
	out, err := s.releaseRequests(ctx, template)
	if err != nil || !s.object.Paced() {
		return out, err
	}
	for _, subset := range slices.Backward(s.object.Subsets) {
		r := partitionRequest(s.object, subset, 0)
		r.Why = "subset " + subset + ": all pods that do not have the template"
		out = append(out, r)
	}
	return append(out, s.settleRequest(s.object.FinalStrategy())), nil
}

// Run rolls the subsets out one after the other, and gives the object the strategy that it has in the
// end. The template is there already.
func (s *Subsets) Run(ctx context.Context, final *unstructured.Unstructured) error {
	to := united.Read(final)
	s.batch.whole = true
	err := s.Each(ctx, func(p *Part) error {
		_, err := p.Run(ctx, p.follows(to.Template, to.Template, to.Kept(p.subset())))
		return err
	})
	if err != nil {
		return err
	}
	return s.end(ctx, to.OwnStrategy())
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

// follows is what a subset's workload becomes when its UnitedDeployment gets another template, and
// keeps some pods in the end. What the controller puts into a subset's template besides stays.
func (p *Part) follows(from, to map[string]any, kept int64) *resource.Resource {
	object := p.session.object
	out := resource.Parsed(tree.Clone(object.Node()), nil, object.Origin)
	n := out.Edit()
	before, after := tree.FromValue(united.PodTemplate(from)), tree.FromValue(united.PodTemplate(to))
	if v := gitops.CarryChange(before, after, tree.Get(n, "spec", "template")); v != nil {
		tree.SetAt(n, v, "spec", "template")
	}
	if path := plan.PartitionPath(object.Group(), object.Kind(), object.Version()); path != nil {
		tree.SetAt(n, tree.Int64(kept), path...)
	}
	return out
}
