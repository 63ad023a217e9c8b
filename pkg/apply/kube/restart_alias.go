package kube

import (
	"context"
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imageref"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// rename names the images of containers in another way, and leaves it at that: the
// kubelet starts them anew, with the same content (docs/facts/kubelet.md#restart-by-alias). What
// was done is written on the pod in the same request.
func (c *Cluster) rename(ctx context.Context, m mark, p pod, r *plan.Restart) error {
	if a, ok := askedOf(p.Pod); ok && a.Step == m {
		return nil
	}
	containers, err := aliases(p.Pod, r)
	if err != nil {
		return err
	}
	a := newAsked(m, p, plan.RestartAlias, r.Containers)
	a.Sent = true
	return c.note(ctx, p, a, containers)
}

// aliases are the containers to restart, as a patch names their images.
func aliases(p *cluster.Pod, r *plan.Restart) ([]any, error) {
	var out []any
	for _, name := range r.Containers {
		has, _ := p.Container(name)
		next, why := imageref.Alias(has.Image, has.StatusImage, has.ImageID)
		if next == "" {
			return nil, fmt.Errorf("pod %s: container %s cannot be restarted by another name of its image: %s", p.Name, name, why)
		}
		out = append(out, map[string]any{"name": name, "image": next})
	}
	return out, nil
}

// note writes on a pod what is asked for. The pod must be as it was seen: what is
// kept of it says later whether its containers have restarted since.
func (c *Cluster) note(ctx context.Context, p pod, a asked, containers []any) error {
	body := map[string]any{"metadata": map[string]any{
		"uid": p.UID, "resourceVersion": p.version,
		"annotations": map[string]any{restartAnnotation: a.text()},
	}}
	if containers != nil {
		body["spec"] = map[string]any{"containers": containers}
	}
	return c.sendPod(ctx, plan.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, PodPatch{Body: body})
}
