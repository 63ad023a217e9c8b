package apply

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/execute"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
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
	quiet := *w
	quiet.report = &reporter{out: io.Discard}
	e := &executor{work: &quiet, only: true}
	if err := e.execute(ctx); err != nil {
		return err
	}
	out := w.factory.Streams.Out
	if w.rollouts.JSON() {
		return view.RequestsJSON(out, e.list)
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	return view.Requests(out, execute.Besides, e.list)
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

// add notes a write that is not sent.
func (e *executor) add(method string, u *unstructured.Unstructured, kind types.PatchType, why string, body any) {
	e.list = append(e.list, event.Request{Method: method, Path: e.client.Path(u), ContentType: string(kind), Why: why, Body: body})
}

// predicted is a workload after its rollout, with the partition that its last step leaves; nil for an
// object without one of its own.
func predicted(it *item, left any) (*unstructured.Unstructured, error) {
	then, gvk := it.final.DeepCopy(), it.object.GroupVersionKind()
	path := plan.PartitionPath(gvk.Group, gvk.Kind, gvk.Version)
	if left == nil || path == nil {
		return then, nil
	}
	return then, unstructured.SetNestedField(then.Object, left, path...)
}
