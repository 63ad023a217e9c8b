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

// executor writes what a run has read and shown.
type executor struct{ *work }

// execute writes: first all but what rollouts write; when Jobs are done those, one
// after the other; then what is left of the set goes. It goes no further than the first
// that fails.
func (e *executor) execute(ctx context.Context) error {
	e.rollouts.Limit(time.Now())
	for _, step := range []func(context.Context) error{e.write, e.finishJobs, e.roll, e.settle, e.prune} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write applies all objects in their order. The parent of the set names the places of
// members before there are any, so that none is ever forgotten.
func (e *executor) write(ctx context.Context) error {
	recorded := false
	for _, it := range e.items {
		if !recorded && it.object.GetKind() != "Namespace" {
			if err := e.members.record(ctx, true); err != nil {
				return err
			}
			recorded = true
		}
		if err := e.writeOne(ctx, it); err != nil {
			return advised(it.fault(err))
		}
	}
	return nil
}

func (e *executor) writeOne(ctx context.Context, it *item) error {
	if len(it.rolls) > 0 {
		return e.writeMetadata(ctx, it)
	}
	got, err := e.client.Apply(ctx, it.object, e.how(false))
	if err != nil {
		return err
	}
	e.report.object(it.object, outcome(it.live, got))
	if it.object.GetKind() == definition {
		return e.established(ctx, it)
	}
	it.final = got
	return nil
}

// writeMetadata writes all of a workload but its spec, which its rollout writes. Its status may
// change meanwhile; what others write may not.
func (e *executor) writeMetadata(ctx context.Context, it *item) error {
	from := it.live
	for {
		patch, err := set.Patch(from, set.WithSpecOf(from, it.final))
		if err != nil || patch == nil {
			return err
		}
		if _, err = e.client.Merge(ctx, it.object, patch); !apierrors.IsConflict(err) {
			return err
		}
		now, got := e.client.Get(ctx, it.object)
		switch {
		case got != nil:
			return got
		case now == nil || now.GetUID() != from.GetUID() || !set.Same(now, it.live):
			return &tree.Error{Msg: "it has changed since it was compared", Hint: "apply again"}
		}
		from = now
	}
}

// established waits until the server serves a kind that was defined, and reports it: what it
// serves may appear a moment after the condition.
func (e *executor) established(ctx context.Context, it *item) error {
	defer e.client.Forget()
	if err := e.defined(ctx, it); err != nil {
		return err
	}
	group, _, _ := unstructured.NestedString(it.object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(it.object.Object, "spec", "names", "kind")
	return e.client.AwaitKind(ctx, schema.GroupKind{Group: group, Kind: kind})
}

func (e *executor) defined(ctx context.Context, it *item) error {
	return e.client.Await(ctx, it.object, func(u *unstructured.Unstructured) bool {
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

// prune deletes what has left the set, and has the parent forget where that was.
func (e *executor) prune(ctx context.Context) error {
	if e.members == nil {
		return nil
	}
	for _, u := range e.members.left {
		if err := e.client.Delete(ctx, u, false); err != nil {
			return parsed(u, fromCluster).Wrap(err, "")
		}
		e.report.object(u, "pruned")
	}
	return e.members.record(ctx, false)
}
