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
type kind interface {
	// updateRevision is what the pods shall become: a revision, or a hash.
	updateRevision(o *object) string
	// updated reports whether a pod is at that revision.
	updated(p *cluster.Pod, revision string) bool
	// pods are those that the object rolls out.
	pods(w *World, o *object) []*cluster.Pod
	// latest is the version of pods that a WorkloadSpread counts.
	latest(o *object) string
}

// kindOf is the kind of an object; one that is no workload owns pods without a
// revision in its status.
func kindOf(o *object) kind {
	if o.workload != nil {
		if k := cluster.By(o.workload.Object, cluster.Kinds[kind](kinds{})); k != nil {
			return k
		}
	}
	return recorded{}
}

// kinds has the kind of each workload.
type kinds struct{}

func (kinds) CloneSet(*kruise.CloneSet) kind             { return stated{} }
func (kinds) StatefulSet(*kruise.StatefulSet) kind       { return stated{} }
func (kinds) DaemonSet(*kruise.DaemonSet) kind           { return stated{} }
func (kinds) NativeStatefulSet(*appsv1.StatefulSet) kind { return stated{} }
func (kinds) NativeDaemonSet(*appsv1.DaemonSet) kind     { return recorded{} }
func (kinds) ReplicaSet(*appsv1.ReplicaSet) kind         { return replicaSetKind{} }
func (kinds) Deployment(*appsv1.Deployment) kind         { return deploymentKind{} }
func (kinds) SidecarSet(*kruise.SidecarSet) kind         { return sidecarSetKind{} }

// owning is for kinds that own their pods, which carry the revision in a label.
type owning struct{}

func (owning) updated(p *cluster.Pod, revision string) bool {
	return revision == "" || rules.AtRevision(p, revision)
}

func (owning) pods(_ *World, o *object) []*cluster.Pod { return slices.Clip(o.pods.now) }

func (owning) latest(*object) string { return rules.VersionIgnored }

// stated is for kinds whose status names the revision.
type stated struct{ owning }

func (stated) updateRevision(o *object) string {
	return cluster.Of(o.workload.Object).UpdateRevision()
}

// recorded is for kinds whose newest stored revision is the one.
type recorded struct{ owning }

func (recorded) updateRevision(o *object) string { return newestRevision(o.revisions) }

type replicaSetKind struct{ recorded }

func (replicaSetKind) latest(o *object) string {
	return o.workload.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// deploymentKind has ReplicaSets, whose hash is what its pods carry.
type deploymentKind struct{}

func (deploymentKind) updateRevision(o *object) string { return newestChild(o) }

func (deploymentKind) updated(p *cluster.Pod, revision string) bool {
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == revision
}

func (deploymentKind) pods(_ *World, o *object) []*cluster.Pod {
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

func (sidecarSetKind) pods(w *World, _ *object) []*cluster.Pod { return w.all.now }

func (sidecarSetKind) latest(*object) string { return rules.VersionIgnored }
