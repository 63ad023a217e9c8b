package requests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// resizeServed is the version of Kubernetes in which the subresource resize is on by
// default (docs/facts/kubernetes.md#features-by-version).
const resizeServed = 33

// more is by how much a container's request is raised: as little as there is. Only
// raising is safe (docs/facts/kubelet.md#resize).
var more = map[corev1.ResourceName]resource.Quantity{
	corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi"),
}

// byResize raises a request of a container that says to be restarted for it: the
// kubelet restarts just that container (docs/facts/kubelet.md#resize).
func (q *recreate) byResize(c *corev1.Container, _ int) (*way, string) {
	switch {
	case !q.c.Since(resizeServed):
		return nil, fmt.Sprintf("the API server resizes pods from 1.%d on", resizeServed)
	case q.static():
		return nil, "the pod is static"
	case q.pod.Spec.OS != nil && q.pod.Spec.OS.Name == corev1.Windows:
		return nil, "pods of Windows are not resized"
	}
	name := restarting(c)
	if name == "" {
		return nil, "no resizePolicy RestartContainer of its is for a request that it has"
	}
	was := c.Resources.Requests[name]
	becomes := was.DeepCopy()
	becomes.Add(more[name])
	resources := map[string]any{"requests": map[string]any{string(name): becomes.String()}}
	if limit, limited := c.Resources.Limits[name]; limited && limit.Cmp(becomes) < 0 {
		resources["limits"] = map[string]any{string(name): becomes.String()} // the class of service must stay
	}
	containers := []any{map[string]any{"name": c.Name, "resources": resources}}
	return &way{
		title: fmt.Sprintf("raise its request of %s from %s to %s", name, was.String(), becomes.String()),
		patch: &patches.Patch{
			Target: targetOf(q.pod), Type: "strategic", Subresource: "resize",
			Body: map[string]any{"spec": map[string]any{"containers": containers}},
		},
		notes: []string{
			"the other containers, the uid and the address of the pod stay",
			"a node without room for it refuses (403), or keeps the request pending: then the container does not restart",
			fmt.Sprintf("the pod asks for %s more %s than its template until it is replaced", quantity(name), name),
		},
	}, ""
}

func quantity(name corev1.ResourceName) string {
	q := more[name]
	return q.String()
}

// restarting is the resource for which the container restarts when its request
// changes, "" for none. A limit that the request equals moves with it.
func restarting(c *corev1.Container) corev1.ResourceName {
	for _, p := range c.ResizePolicy {
		if _, known := more[p.ResourceName]; !known || p.RestartPolicy != corev1.RestartContainer {
			continue
		}
		if _, asks := c.Resources.Requests[p.ResourceName]; asks {
			return p.ResourceName
		}
	}
	return ""
}
