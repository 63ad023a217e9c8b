package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// hand carries out what one pass of a controller asks for.
type hand struct {
	*standIns

	object *unstructured.Unstructured
	view   *controller.View
}

// carryOut does what a pass asks for, up to the first write that is refused, which
// is the error. It returns when the controller wants to look again.
func (h *hand) carryOut(ctx context.Context, pass controller.Pass) (time.Duration, error) {
	var refused error
	for done, a := range pass.Actions {
		if h.asleep() {
			return 0, errAsleep
		}
		refused = h.do(ctx, a)
		if refused == nil {
			continue
		}
		if then, ok := pass.IfRefused(done, refused); ok {
			again, err := h.carryOut(ctx, then)
			return again, errors.Join(refused, err)
		}
		break
	}
	if pass.Status != nil && !h.asleep() {
		if err := h.writeStatus(ctx, pass.Status); err != nil {
			return 0, errors.Join(refused, err)
		}
	}
	return pass.RequeueAfter, refused
}

// AsleepAnnotation on a workload has its controller do nothing for it, from the next write
// on, as if it had been stopped between two: any text does.
const AsleepAnnotation = "lab.test/asleep"

var errAsleep = errors.New("the controller is asleep")

// asleep reports whether a test has stopped the controller of the object.
func (h *hand) asleep() bool {
	o := h.store.object(h.object.GetKind(), types.NamespacedName{Namespace: h.object.GetNamespace(), Name: h.object.GetName()})
	return o != nil && o.GetAnnotations()[AsleepAnnotation] != ""
}

// do carries out one write.
func (h *hand) do(ctx context.Context, a controller.Action) error {
	switch a := a.(type) {
	case controller.StoreRevision:
		return h.storeRevision(ctx, a.Revision)
	case controller.DropRevision:
		return gone(h.client.AppsV1().ControllerRevisions(h.home()).Delete(ctx, a.Name, metav1.DeleteOptions{}))
	case controller.CreatePod:
		return h.createPod(ctx, a)
	case controller.PatchPod:
		return h.patchPod(ctx, a)
	case controller.DeletePod:
		return h.deletePod(ctx, a)
	case controller.PatchWorkload:
		return h.patchWorkload(ctx, a.Patch)
	case controller.ChangeClaim:
		return h.changeClaim(ctx, a)
	case controller.Event:
		h.events.Event(h.object, a.Type, a.Reason, a.Message)
		return nil
	}
	return fmt.Errorf("a stand-in cannot do %T", a)
}

// wrote notes a write, so that the next pass waits until the cache has it.
func (h *hand) wrote(into cache.SharedIndexInformer, o metav1.Object) {
	h.seen.note(h.object.GetUID(), into, o)
}

// deletePod asks for a pod's deletion, never for that of its successor.
func (h *hand) deletePod(ctx context.Context, a controller.DeletePod) error {
	uid := types.UID(a.Pod.UID)
	return h.delete(ctx, h.store.pods, &corev1.Pod{}, "pods", a.Pod.Namespace, a.Pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

// delete asks for a deletion, and has the next pass wait until the cache knows that the object goes. The answer is the
// object with its new version, as long as it is there; client-go's typed client throws it away.
func (h *hand) delete(ctx context.Context, from cache.SharedIndexInformer, left runtime.Object, resource, namespace, name string, o metav1.DeleteOptions) error {
	err := h.client.CoreV1().RESTClient().Delete().Namespace(namespace).Resource(resource).Name(name).Body(&o).Do(ctx).Into(left)
	if m, ok := left.(metav1.Object); err == nil && ok && m.GetUID() != "" {
		h.wrote(from, m)
	}
	return gone(err)
}

// resource is the client of the controller's own object.
func (h *hand) resource() dynamic.ResourceInterface {
	return h.dynamic.Resource(acted[h.object.GetKind()]).Namespace(h.object.GetNamespace())
}

func (h *hand) patchWorkload(ctx context.Context, patch map[string]any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	o, err := h.resource().Patch(ctx, h.object.GetName(), types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil {
		return gone(err)
	}
	h.wrote(h.store.kruise[h.object.GetKind()], o)
	return nil
}

// writeStatus replaces the status of the object, if it is still the same one.
func (h *hand) writeStatus(ctx context.Context, status any) error {
	o, err := h.setStatus(ctx, h.object, status)
	if err != nil {
		return gone(err)
	}
	h.wrote(h.store.kruise[h.object.GetKind()], o)
	return nil
}

// setStatus replaces the status of an object of Kruise's, whatever was written to
// it since it was read; another object of that name is left alone.
func (s *standIns) setStatus(ctx context.Context, o *unstructured.Unstructured, status any) (*unstructured.Unstructured, error) {
	body, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": o.GetUID()},
		{"op": "add", "path": "/status", "value": status},
	})
	if err != nil {
		return nil, err
	}
	return s.dynamic.Resource(acted[o.GetKind()]).Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.JSONPatchType, body, metav1.PatchOptions{}, "status")
}

// gone passes over the failure of a write to something that is not there any more.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
