package apply

import (
	"context"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/set"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// executor writes what a run has read and shown.
type executor struct {
	*work

	// only indicates a dry run: writes are noted in list and not sent, and nothing is waited for.
	only bool
	list []event.Request
}

// apply applies an object whose state is to be that then.
func (e *executor) apply(ctx context.Context, object, then *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if e.only {
		e.add(http.MethodPatch, object, types.ApplyPatchType, "", object.Object)
		return then, nil
	}
	return e.client.Apply(ctx, object, e.how(false))
}

// record writes the parent of the set; all has it name what members may still be of, besides what they
// are of now.
func (e *executor) record(ctx context.Context, all bool) error {
	if e.members == nil {
		return nil
	}
	u := e.members.object(e.members.contents(all))
	if e.only {
		e.add(http.MethodPatch, u, types.ApplyPatchType, "", u.Object)
		return nil
	}
	client := *e.client
	client.FieldManager = set.Tool + "-applyset"
	_, err := client.Apply(ctx, u, objects.Apply{Force: true})
	return err
}

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
			if err := e.record(ctx, true); err != nil {
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
	got, err := e.apply(ctx, it.object, it.final)
	if err != nil {
		return err
	}
	e.report.object(it.object, outcome(it.live, got))
	if it.object.GetKind() == definition && !e.only {
		return e.established(ctx, it)
	}
	it.final = got
	return nil
}

// writeMetadata writes all of a workload but its spec, which its rollout writes. Its status may
// change meanwhile; what others write may not.
func (e *executor) writeMetadata(ctx context.Context, it *item) error {
	from := it.live
	if e.only {
		body, err := set.Change(from, set.WithSpecOf(from, it.final))
		if body != nil {
			e.add(http.MethodPatch, it.object, types.MergePatchType, "all but the spec, which the rollout writes", body)
		}
		return err
	}
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
		if e.only {
			e.add(http.MethodDelete, u, "", "", nil)
		} else if err := e.client.Delete(ctx, u, false); err != nil {
			return parsed(u, fromCluster).Wrap(err, "")
		}
		e.report.object(u, "pruned")
	}
	return e.record(ctx, false)
}
