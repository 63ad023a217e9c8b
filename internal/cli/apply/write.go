package apply

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// carryOut writes: first all but what rollouts drive; when Jobs are done those, one
// after the other; then what is left of the set goes. It goes no further than the first
// that fails.
func (w *work) carryOut(ctx context.Context) error {
	w.rollouts.Limit(time.Now())
	for _, step := range []func(context.Context) error{w.write, w.finishJobs, w.roll, w.settle, w.leave} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write applies all objects in their order. The parent of the set names the places of
// members before there are any, so that none is ever forgotten.
func (w *work) write(ctx context.Context) error {
	recorded := false
	for _, it := range w.items {
		if !recorded && it.object.GetKind() != "Namespace" {
			if err := w.members.record(ctx, true); err != nil {
				return err
			}
			recorded = true
		}
		if err := w.writeOne(ctx, it); err != nil {
			return advised(it.fault(err))
		}
	}
	return nil
}

func (w *work) writeOne(ctx context.Context, it *item) error {
	if len(it.rolls) > 0 {
		return w.hold(ctx, it)
	}
	got, err := w.client.Apply(ctx, it.object, w.how(false))
	if err != nil {
		return err
	}
	w.done(it, outcome(it.live, got))
	if it.object.GetKind() == definition {
		return w.established(ctx, it)
	}
	it.final = got
	return nil
}

// hold writes all of a workload but what its rollout drives. That its status goes on
// changing meanwhile does not matter; what anybody else writes does.
func (w *work) hold(ctx context.Context, it *item) error {
	from := it.live
	for {
		patch, err := set.Patch(from, it.held)
		if err != nil || patch == nil {
			return err
		}
		if _, err = w.client.Merge(ctx, it.object, patch); !apierrors.IsConflict(err) {
			return err
		}
		now, got := w.client.Get(ctx, it.object)
		switch {
		case got != nil:
			return got
		case now == nil || now.GetUID() != from.GetUID() || !set.Same(now, it.live):
			return &tree.Error{Msg: "it has changed since it was compared", Hint: "apply again"}
		}
		from = now
	}
}

// established waits until the server serves a kind that was defined, and says so: what it
// serves may be told a moment after the condition.
func (w *work) established(ctx context.Context, it *item) error {
	defer w.client.Forget()
	if err := w.defined(ctx, it); err != nil {
		return err
	}
	group, _, _ := unstructured.NestedString(it.object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(it.object.Object, "spec", "names", "kind")
	return w.client.AwaitKind(ctx, schema.GroupKind{Group: group, Kind: kind})
}

func (w *work) defined(ctx context.Context, it *item) error {
	return w.client.Await(ctx, it.object, func(u *unstructured.Unstructured) bool {
		list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range list {
			if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return true
			}
		}
		return false
	})
}

// outcome is what became of an object, in kubectl's words.
func outcome(before, after *unstructured.Unstructured) string {
	switch {
	case before == nil:
		return "created"
	case set.Same(before, after):
		return "unchanged"
	}
	return "configured"
}

// leave deletes what has left the set, and has the parent forget where that was.
func (w *work) leave(ctx context.Context) error {
	if w.members == nil {
		return nil
	}
	for _, u := range w.members.left {
		if err := w.client.Delete(ctx, u, false); err != nil {
			return parsed(u, fromCluster).Wrap(err, "")
		}
		w.say(u, "pruned")
	}
	return w.members.record(ctx, false)
}
