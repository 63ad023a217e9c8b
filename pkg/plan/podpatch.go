package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// PodPatches are the requests that make up a change of a pod, in order: the
// conditions first, since the status is a request of its own, then the resources,
// which have one too, then the rest. resources are the new ones by container. Each
// request is refused by a successor of the pod. Conditions have no time where now is zero.
func PodPatches(p *cluster.Pod, c cluster.PodChange, resources map[string]any, now time.Time) []Patch {
	var out []Patch
	add := func(subresource string, body map[string]any) {
		if p.UID != "" {
			metadata, _ := body["metadata"].(map[string]any)
			if metadata == nil {
				metadata = map[string]any{}
				body["metadata"] = metadata
			}
			metadata["uid"] = p.UID
		}
		out = append(out, Patch{Type: PatchStrategic, Subresource: subresource, Body: body})
	}
	if len(c.Conditions) > 0 {
		add("status", ConditionsPatch(p, c.Conditions, now))
	}
	if len(c.Resources) > 0 {
		var list []any
		for _, name := range c.Resources {
			list = append(list, map[string]any{"name": name, "resources": resources[name]})
		}
		add("resize", specBody(list, "containers"))
	}
	if body := metadataAndImagesPatch(p, c); len(body) > 0 {
		add("", body)
	}
	return out
}

// ConditionsPatch is the body of a patch of a pod's status that sets conditions:
// those that change; closing a readiness gate makes the pod unready
// in the same write, as Kruise does.
func ConditionsPatch(p *cluster.Pod, set []cluster.Condition, now time.Time) map[string]any {
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
		item := map[string]any{"type": c.Type, "status": c.Status, "reason": c.Reason, "message": c.Message}
		if !now.IsZero() {
			item["lastTransitionTime"] = metav1.NewTime(c.Since)
		}
		list = append(list, item)
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

// metadataAndImagesPatch is everything of a change but conditions and resources, empty for nothing.
func metadataAndImagesPatch(p *cluster.Pod, c cluster.PodChange) map[string]any {
	metadata, spec, body := map[string]any{}, map[string]any{}, map[string]any{}
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
		var changed []any
		for _, container := range list {
			if image, ok := c.Images[container.Name]; ok {
				changed = append(changed, map[string]any{"name": container.Name, "image": image})
			}
		}
		if len(changed) > 0 {
			spec[field] = changed
		}
	}
	if len(metadata) > 0 {
		body["metadata"] = metadata
	}
	if len(spec) > 0 {
		body["spec"] = spec
	}
	return body
}

// ResourcesOf returns the resources of each container of a template.
func ResourcesOf(template map[string]any) map[string]any {
	out := map[string]any{}
	eachContainer(template, func(name string, container map[string]any) { out[name] = container["resources"] })
	return out
}
