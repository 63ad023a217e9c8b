package requests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/imageref"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// byAlias names the same image in another way: the kubelet restarts a container
// whose image reference changes, and that one alone (docs/facts/kubelet.md#images and
// docs/facts/kubelet.md#restart-by-alias).
func (q *recreate) byAlias(c *corev1.Container, i int) (*way, string) {
	if q.static() {
		return nil, "the pod is static"
	}
	status := q.status(c.Name)
	if status == nil {
		return nil, "the status of the pod is not known, and with it the digest of the image"
	}
	next, why := imageref.Alias(c.Image, status.Image, status.ImageID)
	if next == "" {
		return nil, why
	}
	at := fmt.Sprintf("/spec/containers/%d/", i)
	ops := []any{
		operation("test", at+"name", c.Name), operation("test", at+"image", c.Image), operation("replace", at+"image", next),
	}
	if q.pod.UID != "" {
		ops = append([]any{operation("test", "/metadata/uid", string(q.pod.UID))}, ops...)
	}
	w := &way{
		title: "name its image in another way, " + next,
		patch: &patches.Patch{Target: targetOf(q.pod), Type: "json", Body: ops},
		notes: []string{
			"the kubelet runs the preStop hook and keeps to the grace period of the pod; the other containers, the uid and the address of the pod stay",
			"the pod now differs from its template in this reference, which controllers leave alone until they replace the pod",
			"a restart within 10 s of the one before, with the same reference, waits for the kubelet's back-off",
		},
	}
	if c.ImagePullPolicy == corev1.PullAlways {
		w.notes = append(w.notes, "imagePullPolicy is Always: the registry must answer for "+next)
	}
	return w, ""
}

func operation(op, path string, value any) any {
	return map[string]any{"op": op, "path": path, "value": value}
}
