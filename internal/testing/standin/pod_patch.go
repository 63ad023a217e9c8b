package standin

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// patchPod changes a pod.
func (h *hand) patchPod(ctx context.Context, a controller.PatchPod) error {
	if a.Permit {
		if err := h.permit(ctx, a.Pod, kruise.PubUpdateOperation, false, false); err != nil {
			return err
		}
	}
	for _, patch := range plan.PodPatches(a.Pod, a.Change, h.resources(a.Pod, a.Change), h.view.Now) {
		p, err := h.sendPod(ctx, a.Pod, patch.Body.(map[string]any), subresources(patch)...)
		if err != nil {
			return err
		}
		if p != nil {
			h.wrote(h.store.pods, p)
		}
	}
	h.restart(a.Pod, a.Change.Restart)
	return nil
}

// sendPod patches a pod, never its successor of the same name. The answer is nil
// for a pod that is gone.
func (s *standIns) sendPod(ctx context.Context, p *cluster.Pod, body map[string]any, sub ...string) (*corev1.Pod, error) {
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		body["metadata"] = metadata
	}
	metadata["uid"] = p.UID
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	out, err := s.client.CoreV1().Pods(p.Namespace).
		Patch(ctx, p.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{}, sub...)
	if err != nil {
		return nil, gone(err)
	}
	return out, nil
}

func subresources(p plan.Patch) []string {
	if p.Subresource == "" {
		return nil
	}
	return []string{p.Subresource}
}
