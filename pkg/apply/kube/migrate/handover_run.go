package migrate

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// HandoverStep is what a handover is at.
type HandoverStep struct {
	// Done is what has just been written, or "".
	Done string
	// Turn is how far the pods are, once the new workload has them.
	Turn migrate.Turn
	// Why is what is waited for, or "".
	Why string
}

// again is after how long is looked again at what nothing tells of: not every budget
// that frees itself says so.
const again = 3 * time.Second

// Run hands over until the end. Whenever it ends before, Begin and Run go on from
// there.
func (h *Handover) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w, err := h.watch(ctx)
	if err != nil {
		return err
	}
	var last HandoverStep
	for {
		s, err := h.step(ctx, w)
		if err != nil && !apierrors.IsConflict(err) {
			return err
		}
		if err == nil && !reflect.DeepEqual(s, last) {
			h.Emit(s)
			last = s
		}
		if err == nil && s.Turn.Verb == migrate.Done {
			return nil
		}
		var refused <-chan time.Time
		if err == nil && s.Why != "" && (s.Turn.Verb == migrate.Replace || s.Turn.Verb == "") {
			refused = time.After(again)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-w.faults:
			return err
		case <-w.bell:
		case <-refused:
		}
	}
}

// step does the one thing that is to be done now. It depends on what is in the cluster
// alone.
func (h *Handover) step(ctx context.Context, w *watched) (HandoverStep, error) {
	kept := w.object(configMaps, Kept(h.Record.To.Name))
	old, now := w.object(h.from, h.Record.From.Name), w.object(h.to, h.Record.To.Name)
	switch {
	case kept == nil:
		return h.ended(now)
	case !h.mine(kept):
		return HandoverStep{}, &HaltError{"it was turned back"}
	case old != nil && string(old.GetUID()) != h.Record.UID:
		return HandoverStep{}, &HaltError{fmt.Sprintf("another %s was created", h.word(h.Record.From))}
	case old != nil && old.GetDeletionTimestamp() == nil:
		return h.release(ctx, old)
	case old != nil:
		return wait("%s is being deleted; finalizers %v", h.word(h.Record.From), old.GetFinalizers()), nil
	case now == nil:
		return h.born(ctx)
	case now.GetDeletionTimestamp() != nil:
		return wait("the %s before is being deleted", h.word(h.Record.To)), nil
	case now.GetAnnotations()[migrate.Annotation] == "":
		return HandoverStep{Turn: migrate.Turn{Verb: migrate.Done}}, h.forget(ctx)
	}
	if s, err := h.guard(ctx); err != nil || s.Why != "" {
		return s, err
	}
	return h.pods(ctx, w, kept, now)
}

func wait(format string, args ...any) HandoverStep {
	return HandoverStep{Why: fmt.Sprintf(format, args...)}
}

// ended is where the record is gone: somebody else has brought it to its end.
func (h *Handover) ended(now *unstructured.Unstructured) (HandoverStep, error) {
	if now == nil {
		return HandoverStep{}, &HaltError{"configmap/" + Kept(h.Record.To.Name) + " was deleted"}
	}
	return HandoverStep{Turn: migrate.Turn{Verb: migrate.Done}}, nil
}

// mine reports whether a record is of this very handover.
func (h *Handover) mine(kept *unstructured.Unstructured) bool {
	there := &Handover{}
	return there.read(kept) == nil && there.Record.From == h.Record.From && there.Record.UID == h.Record.UID
}

func (h *Handover) word(w migrate.Workload) string {
	return migrate.Of(w.Group, w.Kind).Word + "/" + w.Name
}

// release deletes the old workload and leaves its pods, once the server has said that
// it would take the new one.
func (h *Handover) release(ctx context.Context, old *unstructured.Unstructured) (HandoverStep, error) {
	dry := *h.client
	dry.DryRun = true
	if err := h.create(ctx, &dry); err != nil {
		return HandoverStep{}, fmt.Errorf("nothing was touched: the server does not take %s: %w", h.word(h.Record.To), err)
	}
	uid, leave := old.GetUID(), metav1.DeletePropagationOrphan
	err := h.client.of(h.from).Delete(ctx, old.GetName(), metav1.DeleteOptions{PropagationPolicy: &leave, Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return HandoverStep{}, err
	}
	return HandoverStep{Done: h.word(h.Record.From) + " deleted; its pods stay"}, nil
}

// born creates the new workload. It replaces no pod by itself until the end.
func (h *Handover) born(ctx context.Context) (HandoverStep, error) {
	if err := h.create(ctx, h.client); err != nil && !apierrors.IsAlreadyExists(err) {
		return HandoverStep{}, fmt.Errorf("cannot create %s, which is kept in configmap/%s: %w", h.word(h.Record.To), Kept(h.Record.To.Name), err)
	}
	return HandoverStep{Done: h.word(h.Record.To) + " created"}, nil
}

func (h *Handover) create(ctx context.Context, c *Client) error {
	u := h.New.DeepCopy()
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[migrate.Annotation] = h.Record.From.String()
	u.SetAnnotations(annotations)
	if err := unstructured.SetNestedMap(u.Object, map[string]any{"type": "OnDelete"}, "spec", "updateStrategy"); err != nil {
		return err
	}
	_, err := c.Create(ctx, migrate.Of(h.Record.To.Group, h.Record.To.Kind), u)
	return err
}

// finish gives the new workload its own update strategy, has followers follow, and
// takes the record away.
func (h *Handover) finish(ctx context.Context, now *unstructured.Unstructured) error {
	patch := annotated(nil)
	strategy, _, _ := unstructured.NestedMap(h.New.Object, "spec", "updateStrategy")
	if strategy == nil {
		strategy = map[string]any{"type": "RollingUpdate"}
	}
	patch["spec"] = map[string]any{"updateStrategy": strategy}
	for _, f := range h.followers {
		if f.Twin == "" {
			if err := h.client.pointAt(ctx, f, h.to, h.Record.To); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s/%s: %w", f.Resource, f.Name, err)
			}
		}
	}
	if err := h.client.merge(ctx, h.to, now, patch); err != nil {
		return err
	}
	return h.forget(ctx)
}
