package simulate

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// kind is what the simulation differs in between kinds of workload.
type kind interface {
	// updateRevision is what the pods should become: a revision, or a hash.
	updateRevision(o *object) string
	// updated reports whether a pod is at that revision.
	updated(p *cluster.Pod, revision string) bool
	// pods are those that the object rolls out.
	pods(all []*cluster.Pod, o *object) []*cluster.Pod
	// latest is the version of pods that a WorkloadSpread counts.
	latest(o *object) string
	// named reports whether a pod is replaced by one of its own name.
	named() bool
}

// kindOf is the kind of an object; one that is no workload owns pods without a
// revision in its status.
func kindOf(o *object) kind {
	if o.workload != nil {
		if k := cluster.By(o.workload.Object, cluster.Kinds[kind](kinds{})); k != nil {
			return k
		}
	}
	return byNewestRevision{}
}

// kinds has the kind of each workload.
type kinds struct{}

func (kinds) CloneSet(*kruise.CloneSet) kind { return byStatus{} }

func (kinds) StatefulSet(*kruise.StatefulSet) kind { return ordinalKind{} }

func (kinds) DaemonSet(*kruise.DaemonSet) kind { return byStatus{} }

func (kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return ordinalKind{} }

func (kinds) NativeDaemonSet(*appsv1.DaemonSet) kind { return byNewestRevision{} }

func (kinds) ReplicaSet(*appsv1.ReplicaSet) kind { return replicaSetKind{} }

func (kinds) Deployment(*appsv1.Deployment) kind { return deploymentKind{} }

func (kinds) SidecarSet(*kruise.SidecarSet) kind { return sidecarSetKind{} }

// owning is for kinds that own their pods, which carry the revision in a label.
type owning struct{}

func (owning) updated(p *cluster.Pod, revision string) bool {
	return revision == "" || rules.AtRevision(p, revision)
}

func (owning) pods(_ []*cluster.Pod, o *object) []*cluster.Pod { return slices.Clip(o.pods.now) }

func (owning) latest(*object) string { return rules.VersionIgnored }

// byStatus is for kinds whose status names the revision.
type byStatus struct{ owning }

func (byStatus) updateRevision(o *object) string {
	return cluster.Of(o.workload.Object).UpdateRevision()
}

// ordinalKind is for StatefulSets.
type ordinalKind struct{ byStatus }

func (ordinalKind) named() bool { return true }

func (owning) named() bool         { return false }
func (deploymentKind) named() bool { return false }
func (sidecarSetKind) named() bool { return false }

// byNewestRevision is for kinds whose newest stored revision is the one.
type byNewestRevision struct{ owning }

func (byNewestRevision) updateRevision(o *object) string {
	newest := cluster.Revision{}
	for _, r := range o.revisions {
		if r.Number >= newest.Number {
			newest = r
		}
	}
	return newest.Name
}

type replicaSetKind struct{ byNewestRevision }

func (replicaSetKind) latest(o *object) string {
	return o.workload.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// deploymentKind has ReplicaSets, whose hash is what its pods carry.
type deploymentKind struct{}

func (deploymentKind) updateRevision(o *object) string { return newestChild(o) }

func (deploymentKind) updated(p *cluster.Pod, revision string) bool {
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == revision
}

func (deploymentKind) pods(_ []*cluster.Pod, o *object) []*cluster.Pod {
	var out []*cluster.Pod
	for _, child := range o.children {
		out = append(out, child.pods.now...)
	}
	return out
}

func (deploymentKind) latest(o *object) string { return newestChild(o) }

// sidecarSetKind has the pods of others, which carry its hash.
type sidecarSetKind struct{}

func (sidecarSetKind) updateRevision(o *object) string {
	return o.workload.Annotations[kruise.SidecarSetHashAnnotation]
}

func (sidecarSetKind) updated(p *cluster.Pod, revision string) bool {
	return strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], revision)
}

func (sidecarSetKind) pods(all []*cluster.Pod, _ *object) []*cluster.Pod { return all }

func (sidecarSetKind) latest(*object) string { return rules.VersionIgnored }

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

// revisionOf is the revision of a pod, or the hash of its ReplicaSet.
func revisionOf(p *cluster.Pod) string {
	if revision := rules.RevisionOf(p); revision != "" {
		return revision
	}
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

func withoutHash(template map[string]any) map[string]any {
	meta, _ := template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return withKey(template, "metadata", withKey(meta, "labels", withKey(labels, appsv1.DefaultDeploymentUniqueLabelKey, nil)))
}

// withKey returns a copy in which one key is set, or removed when v is nil.
func withKey(m map[string]any, key string, v any) map[string]any {
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	if out[key] = v; v == nil {
		delete(out, key)
	}
	return out
}
