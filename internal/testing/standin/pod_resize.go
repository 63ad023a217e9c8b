package standin

import (
	"cmp"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// resources are those that containers have in the pod's new revision.
func (h *hand) resources(p *cluster.Pod, c cluster.PodChange) map[string]any {
	revision := p.Labels[appsv1.ControllerRevisionHashLabelKey]
	if now := c.Labels[appsv1.ControllerRevisionHashLabelKey]; now != nil {
		revision = *now
	}
	template := h.view.Workload.Template
	for _, r := range h.view.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(revision) {
			template = r.Template
		}
	}
	return plan.ResourcesOf(template)
}

// restarts are the containers that a node was asked to restart although their
// image stays, with their IDs before that, by pod.
type restarts struct {
	mu      sync.Mutex
	pending map[types.UID]map[string]string
}

func newRestarts() *restarts { return &restarts{pending: map[types.UID]map[string]string{}} }

// restart has the node's agent restart containers whose env reads what changed.
func (h *hand) restart(p *cluster.Pod, containers []string) {
	now := h.store.pod(p.Namespace, p.Name)
	if now == nil || string(now.UID) != p.UID || len(containers) == 0 {
		return
	}
	r := h.restarts
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending[now.UID] == nil {
		r.pending[now.UID] = map[string]string{}
	}
	for _, name := range containers {
		r.pending[now.UID][name] = idOf(now, name)
		grace := time.Duration(*cmp.Or(now.Spec.TerminationGracePeriodSeconds, new(int64))) * time.Second
		h.nodes.Restart(p.Namespace, p.Name, name, grace)
	}
}

func idOf(p *corev1.Pod, container string) string {
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.Name == container {
			return s.ContainerID
		}
	}
	return ""
}

// reports is what the nodes say of pods that are being updated in place.
func (r *restarts) reports(pods []*corev1.Pod) map[string]rules.NodeReport {
	out := map[string]rules.NodeReport{}
	for _, p := range pods {
		if _, updated := p.Annotations[kruise.InPlaceUpdateStateAnnotation]; updated {
			out[string(p.UID)] = rules.NodeReport{EnvHashes: r.done(p), Resources: resized(p)}
		}
	}
	return out
}

// done reports whether all restarts that were asked for have happened.
func (r *restarts) done(p *corev1.Pod) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for container, before := range r.pending[p.UID] {
		if idOf(p, container) == before {
			return false
		}
	}
	delete(r.pending, p.UID)
	return true
}

// resized reports whether the status has the resources of the spec.
func resized(p *corev1.Pod) bool {
	for i := range p.Spec.Containers {
		for j := range p.Status.ContainerStatuses {
			s := &p.Status.ContainerStatuses[j]
			if s.Name == p.Spec.Containers[i].Name && s.Resources != nil && !equality.Semantic.DeepEqual(*s.Resources, p.Spec.Containers[i].Resources) {
				return false
			}
		}
	}
	return true
}
