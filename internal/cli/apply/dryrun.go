package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	rolloutcmd "github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// showDryRun describes what would be done, in the order in which it would be, and every
// request.
func (w *work) showDryRun(ctx context.Context) error {
	for _, it := range w.items {
		switch {
		case it.live == nil:
			w.report.object(it.object, "created")
		case len(it.rolls) > 0:
			w.report.object(it.object, "rolled out")
		default:
			w.report.object(it.object, outcome(it.live, it.final))
		}
	}
	if err := w.showPrune(ctx); err != nil {
		return err
	}
	list, err := w.requests(ctx)
	if err != nil {
		return err
	}
	out := w.factory.Streams.Out
	if w.rollouts.JSON() {
		return view.RequestsJSON(out, list)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	return view.Requests(out, rolloutcmd.Besides, list)
}

func (w *work) showPrune(ctx context.Context) error {
	if w.members == nil {
		return nil
	}
	for _, u := range w.members.left {
		if w.dryRun == "server" {
			if err := w.client.Delete(ctx, u, true); err != nil {
				return parsed(u, fromCluster).Wrap(err, "")
			}
		}
		w.report.object(u, "pruned")
	}
	return nil
}

// requests are the writes of [executor.execute], in their order.
type requests struct {
	work *work
	list []event.Request
}

// requests works them out: those of rollouts if pods behave.
func (w *work) requests(ctx context.Context) ([]event.Request, error) {
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
	for _, items := range w.rolled() {
		if err := r.roll(ctx, items); err != nil {
			return nil, err
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
	r.list = append(r.list, event.Request{Method: method, Path: r.work.client.Path(u), ContentType: string(kind), Why: why, Body: body})
}

func (r *requests) parent(c set.Contents) {
	u := r.work.members.object(c)
	r.add("PATCH", u, types.ApplyPatchType, "", u.Object)
}

func (r *requests) apply(object *unstructured.Unstructured) {
	r.add("PATCH", object, types.ApplyPatchType, "", object.Object)
}

// write is the first write of an object.
func (r *requests) write(it *item) error {
	if len(it.rolls) == 0 {
		r.apply(it.object)
		return nil
	}
	body, err := set.Change(it.live, set.WithSpecOf(it.live, it.final))
	if body != nil {
		r.add("PATCH", it.object, types.MergePatchType, "all but the spec, which the rollout writes", body)
	}
	return err
}

// roll is the rollout of workloads, and what is applied when it is done.
func (r *requests) roll(ctx context.Context, items []*item) error {
	g, err := r.work.open(ctx, items, false)
	if err != nil {
		return err
	}
	defer g.Close()
	list, err := g.Requests()
	if err != nil {
		return err
	}
	r.list = append(r.list, list...)
	for _, it := range items {
		if err := r.applyFinal(it, g.Partition(it.ref)); err != nil {
			return it.fault(err)
		}
	}
	return nil
}

// applyFinal is what is applied after a rollout, with the partition that its last step leaves, as
// [executor.applyFinal] finds it; nil for an object without one of its own.
func (r *requests) applyFinal(it *item, left any) error {
	object := it.object.DeepCopy()
	set.ForgetDeleted(object)
	path := plan.PartitionPath(it.object.GroupVersionKind().Group, it.object.GetKind(), it.object.GroupVersionKind().Version)
	if left != nil && path != nil && r.work.rollouts.Staged() {
		then := it.final.DeepCopy()
		if err := unstructured.SetNestedField(then.Object, left, path...); err != nil {
			return err
		}
		set.KeepHeld(then, object)
	}
	r.apply(object)
	return nil
}
