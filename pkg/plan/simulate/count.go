package simulate

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// wanted is how many pods there should be. A SidecarSet wants those of the
// workloads whose pods it is in, and where none of these is known, the pods.
func (w *World) wanted(o *object) int {
	t := cluster.Of(o.workload.Object)
	if n, ok := t.Replicas(); ok {
		return n
	}
	if n, ok := t.Scheduled(); ok {
		return n
	}
	sum := 0
	for _, owner := range w.sorted() {
		if owner.workload != nil && owner.ref.Kind != kruise.KindSidecarSet && slices.ContainsFunc(owner.pods.now, func(p *cluster.Pod) bool { return injected(p, o.ref.Name) }) {
			sum += w.wanted(owner)
		}
	}
	if sum == 0 {
		for _, p := range w.all.now {
			if injected(p, o.ref.Name) {
				sum++
			}
		}
	}
	return sum
}

func newestRevision(list []cluster.Revision) string {
	newest := cluster.Revision{}
	for _, r := range list {
		if r.Number >= newest.Number {
			newest = r
		}
	}
	return newest.Name
}

// newestChild is the template hash of the Deployment's ReplicaSet with its
// present template.
func newestChild(o *object) string {
	for _, child := range o.children {
		if rules.SameTemplate(o.workload.Template, withoutHash(child.workload.Template)) {
			return child.workload.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		}
	}
	return ""
}

// updated reports whether a pod is at the target's update revision.
func (r *recorder) updated(p *cluster.Pod) bool {
	return kindOf(r.target).updated(p, r.revision)
}

// revisionOf is the revision of a pod, or the hash of its ReplicaSet.
func revisionOf(p *cluster.Pod) string {
	if revision := rules.RevisionOf(p); revision != "" {
		return revision
	}
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

func injected(p *cluster.Pod, set string) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), set)
}

func isReady(p *cluster.Pod) bool {
	c, _ := p.Condition(string(corev1.PodReady))
	return c.Status == corev1.ConditionTrue
}

// settled reports whether no lifecycle state makes the pod unavailable.
func settled(p *cluster.Pod) bool {
	state := rules.StateOf(p)
	return state == rules.StateNone || state == rules.StateNormal
}

// fate decides whether a pod that is now at the update revision will ever be
// ready, see [Options.Fail].
func (w *World) fate(e *pod, before string) {
	if len(w.opt.Fail) == 0 || !w.rec.owns(e) || !w.rec.updated(e.Pod) || before == revisionOf(e.Pod) {
		return
	}
	w.updated++
	if slices.Contains(w.opt.Fail, w.updated) {
		w.failing[e.UID] = true
	}
}

func withoutHash(template map[string]any) map[string]any {
	meta, _ := template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return with(template, "metadata", with(meta, "labels", with(labels, appsv1.DefaultDeploymentUniqueLabelKey, nil)))
}

// with returns a copy in which one key is set, or removed when v is nil.
func with(m map[string]any, key string, v any) map[string]any {
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	if out[key] = v; v == nil {
		delete(out, key)
	}
	return out
}
