package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// rival is a second operator, who continues where the first is dead, and sees the
// first where they are alive.
func rival(ctx context.Context, t *testing.T, h *history) (func(), error) {
	t.Helper()
	p, cfg := h.way(t)
	ctx, cancel := context.WithTimeout(ctx, testcluster.Patience)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		res, err := h.drive(ctx, t, cfg)
		h.tell("rival ended: %s %s %v", res.Outcome, res.Reason, err)
		h.refused.Store(errors.Is(err, plan.ErrOtherExecutor))
	}()
	return func() {
		<-ended
		cancel()
		p.Kill()
	}, nil
}

// change changes the record as a person does, by a command of their own.
func (h *history) change(ctx context.Context, change func(*plan.Record)) error {
	_, err := kube.Records{Client: h.Client()}.Change(ctx, h.object.Ref, "carla", func(r *plan.Record) error {
		if r.Progress.Finished.IsZero() {
			change(r)
		}
		return nil
	})
	return err
}

// onHold has a user pause the rollout, and resume it.
func onHold(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	err := h.change(ctx, func(r *plan.Record) {
		if on, err := r.Progress.Pause(r.Plan, "carla", time.Now()); err == nil {
			r.Progress = on
		}
	})
	return func() {
		_ = h.change(ctx, func(r *plan.Record) {
			if off, err := r.Progress.Resume(r.Plan, time.Now()); err == nil {
				r.Progress = off
			}
		})
	}, err
}

func aborted(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	return nil, h.change(ctx, func(r *plan.Record) {
		if ended, err := r.Progress.Abort(r.Plan, "aborted by carla"); err == nil {
			r.Progress = ended
		}
	})
}

// leaseTaken has another holder's name in the lease, who never renews it.
func leaseTaken(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	other := "another-holder"
	body, err := json.Marshal(map[string]any{"spec": coordinationv1.LeaseSpec{HolderIdentity: &other, RenewTime: new(metav1.NowMicro())}})
	if err != nil {
		return nil, err
	}
	_, err = h.Client().CoordinationV1().Leases(h.namespace).Patch(ctx, h.rollout().State, types.MergePatchType, body, metav1.PatchOptions{})
	return nil, err
}

func leaseDeleted(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	return nil, h.Client().CoordinationV1().Leases(h.namespace).Delete(ctx, h.rollout().State, metav1.DeleteOptions{})
}

// clock moves the clock of the operators, and moves it back.
func clock(by time.Duration) func(context.Context, *testing.T, *history) (func(), error) {
	return func(ctx context.Context, _ *testing.T, h *history) (func(), error) {
		h.ahead.Store(int64(by))
		return func() {
			h.ahead.Store(0)
			_ = h.poke(ctx)
		}, h.poke(ctx)
	}
}

// poke changes the workload in a way that means nothing, so that waiting processes look.
func (h *history) poke(ctx context.Context) error {
	return h.annotate(ctx, "lab.test/poked", time.Now().Format(time.RFC3339Nano))
}

// annotate sets an annotation of the workload, or takes it away where v is nil.
func (h *history) annotate(ctx context.Context, key string, v any) error {
	return h.patchMeta(ctx, map[string]any{"annotations": map[string]any{key: v}})
}

func (h *history) patchMeta(ctx context.Context, meta any) error {
	client, err := dynamic.NewForConfig(h.Config())
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return err
	}
	_, err = client.Resource(h.object.Resource).Namespace(h.namespace).Patch(ctx, "web", types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

func namespaceDeleted(ctx context.Context, _ *testing.T, h *history) (func(), error) {
	return nil, h.Client().CoreV1().Namespaces().Delete(ctx, h.namespace, metav1.DeleteOptions{})
}
