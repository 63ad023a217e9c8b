package standin

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// patchPod changes a pod: the conditions first, as the status is a request of its
// own, then the resources, which have one too.
func (h *hand) patchPod(ctx context.Context, a controller.PatchPod) error {
	if a.Permit {
		if err := h.permit(ctx, a.Pod, kruise.PubUpdateOperation, false, false); err != nil {
			return err
		}
	}
	send := func(body map[string]any, sub ...string) error {
		p, err := h.sendPod(ctx, a.Pod, body, sub...)
		if err == nil && p != nil {
			h.wrote(h.store.pods, p)
		}
		return err
	}
	if len(a.Change.Conditions) > 0 {
		if err := send(conditions(a.Pod, a.Change.Conditions, h.view.Now), "status"); err != nil {
			return err
		}
	}
	if len(a.Change.Resources) > 0 {
		if err := send(h.resources(a.Pod, a.Change), "resize"); err != nil {
			return err
		}
	}
	if body := rest(a.Pod, a.Change); body != nil {
		if err := send(body); err != nil {
			return err
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

// conditions are those that change; closing a readiness gate makes the pod unready
// in the same write, as Kruise does.
func conditions(p *cluster.Pod, set []cluster.Condition, now time.Time) map[string]any {
	closes := slices.ContainsFunc(set, func(c cluster.Condition) bool {
		return c.Status == corev1.ConditionFalse && slices.Contains(p.ReadinessGates, c.Type)
	})
	ready, _ := p.Condition(string(corev1.PodReady))
	if closes && ready.Status == corev1.ConditionTrue {
		set = append(slices.Clone(set), cluster.SetTo(string(corev1.PodReady), corev1.ConditionFalse, "ReadinessGatesNotReady", ""))
	}
	after := p.With(cluster.PodChange{Conditions: set}, now)
	var list []any
	for _, change := range set {
		c, _ := after.Condition(change.Type)
		list = append(list, map[string]any{
			"type": c.Type, "status": c.Status, "reason": c.Reason, "message": c.Message,
			"lastTransitionTime": metav1.NewTime(c.Since),
		})
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

// rest is everything of a change but conditions and resources, nil for nothing.
func rest(p *cluster.Pod, c cluster.PodChange) map[string]any {
	metadata, spec := map[string]any{}, map[string]any{}
	if len(c.Labels) > 0 {
		metadata["labels"] = c.Labels
	}
	if len(c.Annotations) > 0 {
		metadata["annotations"] = c.Annotations
	}
	if len(c.AddFinalizers) > 0 {
		metadata["finalizers"] = c.AddFinalizers
	}
	if len(c.RemoveFinalizers) > 0 {
		metadata["$deleteFromPrimitiveList/finalizers"] = c.RemoveFinalizers
	}
	for field, list := range map[string][]cluster.Container{"containers": p.Containers, "initContainers": p.InitContainers} {
		if changed := images(list, c.Images); len(changed) > 0 {
			spec[field] = changed
		}
	}
	if len(metadata)+len(spec) == 0 {
		return nil
	}
	body := map[string]any{"metadata": metadata}
	if len(spec) > 0 {
		body["spec"] = spec
	}
	return body
}

func images(list []cluster.Container, change map[string]string) []any {
	var out []any
	for _, c := range list {
		if image, ok := change[c.Name]; ok {
			out = append(out, map[string]any{"name": c.Name, "image": image})
		}
	}
	return out
}
