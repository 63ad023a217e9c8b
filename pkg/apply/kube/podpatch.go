package kube

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// PodPatch is one strategic merge patch of a pod.
type PodPatch struct {
	// Subresource is empty, status or resize.
	Subresource string
	Body        map[string]any
}

// PodPatches are the requests that make up a change of a pod, in order: the
// conditions first, since the status is a request of its own, then the resources,
// which have one too, then the rest. resources are the new ones by container. Each
// request is refused by a successor of the pod.
func PodPatches(p *cluster.Pod, c cluster.PodChange, resources map[string]any, now time.Time) []PodPatch {
	var out []PodPatch
	if len(c.Conditions) > 0 {
		out = append(out, PodPatch{"status", ConditionsPatch(p, c.Conditions, now)})
	}
	if len(c.Resources) > 0 {
		out = append(out, PodPatch{"resize", resizing(c.Resources, resources)})
	}
	if body := metaAndImages(p, c); body != nil {
		out = append(out, PodPatch{"", body})
	}
	for _, patch := range out {
		metadata, _ := patch.Body["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
			patch.Body["metadata"] = metadata
		}
		metadata["uid"] = p.UID
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
		list = append(list, map[string]any{
			"type": c.Type, "status": c.Status, "reason": c.Reason, "message": c.Message,
			"lastTransitionTime": metav1.NewTime(c.Since),
		})
	}
	return map[string]any{"status": map[string]any{"conditions": list}}
}

func resizing(containers []string, resources map[string]any) map[string]any {
	var list []any
	for _, name := range containers {
		list = append(list, map[string]any{"name": name, "resources": resources[name]})
	}
	return map[string]any{"spec": map[string]any{"containers": list}}
}

// metaAndImages is everything of a change but conditions and resources, nil for nothing.
func metaAndImages(p *cluster.Pod, c cluster.PodChange) map[string]any {
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

// resourcesIn are [Cluster.resources] by a snapshot.
func resourcesIn(s plan.Snapshot, p *cluster.Pod, change cluster.PodChange) map[string]any {
	if len(change.Resources) == 0 || s.Workload == nil {
		return nil
	}
	revision := p.Labels[cluster.RevisionLabel]
	if now := change.Labels[cluster.RevisionLabel]; now != nil {
		revision = *now
	}
	template := s.Workload.Template
	for _, r := range s.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(revision) {
			template = r.Template
		}
	}
	return ResourcesOf(template)
}

// ResourcesOf returns the resources of each container of a template.
func ResourcesOf(template map[string]any) map[string]any {
	out := map[string]any{}
	spec, _ := template["spec"].(map[string]any)
	list, _ := spec["containers"].([]any)
	for _, item := range list {
		container, _ := item.(map[string]any)
		if name, ok := container["name"].(string); ok {
			out[name] = container["resources"]
		}
	}
	return out
}
