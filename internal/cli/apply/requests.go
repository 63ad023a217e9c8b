package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// request is one write, as it would be sent.
type request struct {
	Type        string `json:"type"`
	Method      string `json:"method"`
	Path        string `json:"path"`
	ContentType string `json:"contentType,omitempty"`
	// Why says what a rollout wants with it.
	Why  string `json:"why,omitempty"`
	Body any    `json:"body,omitempty"`
}

// requests are the writes of [work.carryOut], in their order.
type requests struct {
	work *work
	list []request
}

// requests works them out: those of rollouts if pods behave.
func (w *work) requests(ctx context.Context) ([]request, error) {
	r := &requests{work: w}
	recorded := w.members == nil
	for _, it := range w.items {
		if !recorded && it.object.GetKind() != "Namespace" {
			r.parent(w.members.contents(true))
			recorded = true
		}
		if err := r.write(it); err != nil {
			return nil, it.fault(err)
		}
	}
	for _, it := range w.items {
		if err := r.roll(ctx, it); err != nil {
			return nil, it.fault(err)
		}
	}
	if w.members != nil {
		for _, u := range w.members.left {
			r.add("DELETE", u, "", "", nil)
		}
		r.parent(w.members.contents(false))
	}
	return r.list, nil
}

func (r *requests) add(method string, u *unstructured.Unstructured, kind types.PatchType, why string, body any) {
	r.list = append(r.list, request{"request", method, r.work.client.Path(u), string(kind), why, body})
}

func (r *requests) parent(c set.Contents) {
	u := r.work.members.object(c)
	r.add("PATCH", u, types.ApplyPatchType, "", u.Object)
}

func (r *requests) apply(it *item) {
	r.add("PATCH", it.object, types.ApplyPatchType, "", it.object.Object)
}

// write is the first write of an object.
func (r *requests) write(it *item) error {
	if len(it.rolls) == 0 {
		r.apply(it)
		return nil
	}
	body, err := set.Change(it.live, it.held)
	if body != nil {
		r.add("PATCH", it.object, types.MergePatchType, "all but what the rollout drives", body)
	}
	return err
}

// roll is the rollout of a workload, and what is applied when it is done.
func (r *requests) roll(ctx context.Context, it *item) error {
	switch {
	case len(it.rolls) == 0:
		return nil
	case it.united():
		if err := r.rollSubsets(ctx, it); err != nil {
			return err
		}
	default:
		part, err := r.work.open(ctx, it)
		if err != nil {
			return err
		}
		p, err := part.Plan(ctx, it.desired())
		part.Close()
		if err != nil {
			return err
		}
		r.steps(it, p)
	}
	r.apply(it)
	return nil
}

func (r *requests) steps(it *item, p plan.Plan) {
	for i := range p.Steps {
		for _, patch := range p.Steps[i].Patches {
			u := it.live
			if t := patch.Target; t != nil {
				u = &unstructured.Unstructured{}
				u.SetAPIVersion(t.APIVersion)
				u.SetKind(t.Kind)
				u.SetNamespace(t.Namespace)
				u.SetName(t.Name)
			}
			r.add("PATCH", u, patchTypes[patch.Type], p.Steps[i].Title, patch.Body)
		}
	}
}

var patchTypes = map[string]types.PatchType{
	plan.PatchMerge: types.MergePatchType, plan.PatchJSON: types.JSONPatchType, "strategic": types.StrategicMergePatchType,
}

// rollSubsets: the template first, then the partition of each subset, step by step.
func (r *requests) rollSubsets(ctx context.Context, it *item) error {
	subsets, err := r.work.subsets(ctx, it)
	if err != nil {
		return err
	}
	if body := subsets.Writes(it.final); body != nil {
		r.add("PATCH", it.object, types.JSONPatchType, "the template, with all subsets held back", body)
	}
	return subsets.Plans(ctx, it.final, func(s rolloutcmd.SubsetStep) {
		r.add("PATCH", it.object, types.MergePatchType, "subset "+s.Subset+": "+s.Title, s.Body)
	})
}
