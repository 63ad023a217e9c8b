package simulate

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// kind is what the simulation differs in between kinds of workload.
type kind int

const (
	byNewest   kind = iota // the newest stored revision is the one; so it is for an object that is no workload
	hashed                 // so it is, and WorkloadSpreads count by the hash in its labels
	byStatus               // the status names the revision
	byOrdinal              // so it does, and a pod is replaced by one of its own name
	parents                // it has ReplicaSets, whose hash is what its pods carry
	ofSidecars             // it has the pods of others, which carry its hash
)

func kindOf(o *object) kind {
	if o.workload == nil {
		return byNewest
	}
	return cluster.By(o.workload.Object, cluster.Kinds[kind](kinds{}))
}

// kinds has the kind of each workload.
type kinds struct{}

func (kinds) CloneSet(*kruise.CloneSet) kind             { return byStatus }
func (kinds) StatefulSet(*kruise.StatefulSet) kind       { return byOrdinal }
func (kinds) DaemonSet(*kruise.DaemonSet) kind           { return byStatus }
func (kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return byOrdinal }
func (kinds) NativeDaemonSet(*appsv1.DaemonSet) kind     { return byNewest }
func (kinds) ReplicaSet(*appsv1.ReplicaSet) kind         { return hashed }
func (kinds) Deployment(*appsv1.Deployment) kind         { return parents }
func (kinds) SidecarSet(*kruise.SidecarSet) kind         { return ofSidecars }

// updateRevision is what the pods of an object should become: a revision, or a hash.
func updateRevision(o *object) string {
	switch kindOf(o) {
	case byStatus, byOrdinal:
		return cluster.Of(o.workload.Object).UpdateRevision()
	case parents:
		return newestChild(o)
	case ofSidecars:
		return o.workload.Annotations[kruise.SidecarSetHashAnnotation]
	}
	newest := cluster.Revision{}
	for _, r := range o.revisions {
		if r.Number >= newest.Number {
			newest = r
		}
	}
	return newest.Name
}

// updated reports whether a pod of an object is at that revision.
func updated(o *object, p *cluster.Pod, revision string) bool {
	switch kindOf(o) {
	case parents:
		return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == revision
	case ofSidecars:
		return strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], revision)
	}
	return revision == "" || rules.AtRevision(p, revision)
}

// podsOf are those of all pods that the object rolls out.
func podsOf(all []*cluster.Pod, o *object) []*cluster.Pod {
	switch kindOf(o) {
	case parents:
		var out []*cluster.Pod
		for _, child := range o.children {
			out = append(out, child.pods.now...)
		}
		return out
	case ofSidecars:
		return all
	}
	return slices.Clip(o.pods.now)
}

// latestVersion is the version of pods that a WorkloadSpread counts.
func latestVersion(o *object) string {
	switch kindOf(o) {
	case parents:
		return newestChild(o)
	case hashed:
		return o.workload.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	}
	return rules.VersionIgnored
}

// newestChild is the template hash of the Deployment's ReplicaSet with its
// present template.
func newestChild(o *object) string {
	for _, child := range o.children {
		if rules.SameTemplate(o.workload.Template, cluster.WithLabel(child.workload.Template, appsv1.DefaultDeploymentUniqueLabelKey, nil)) {
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
