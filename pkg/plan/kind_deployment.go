package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type deploymentKind struct {
	anyKind
	o *appsv1.Deployment
}

func (kinds) Deployment(o *appsv1.Deployment) kind {
	return deploymentKind{anyKind{o}, o}
}

// subject reads a Deployment of Kubernetes. It has no partition: a step pauses
// it once enough pods are updated, by when it may have gone further.
func (k deploymentKind) subject(b *comparison) subject {
	spec := &k.o.Spec
	l := rules.LimitsOfDeployment(spec)
	recreates := spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	if recreates { // all go before any comes
		l.MaxUnavailable, l.MaxSurge = l.Replicas, 0
	}
	let := rules.PausedOf(b.present.Object) && !rules.PausedOf(b.desired.Object)
	s := subject{
		total:       l.Replicas,
		limits:      Limits{l.Replicas, l.MaxUnavailable, l.MaxSurge, seconds(spec.MinReadySeconds)},
		approximate: !recreates && (let || len(b.policy.Steps) > 1),
		order:       b.outdatedInOrder(byName(b.snap.Pods), true, "which old pods go first is up to their ReplicaSet"),
	}
	b.countPods(&s, min(b.activePods(), s.total), b.updatedPods())
	return s
}

// isUpdated reads the hash of the pod's ReplicaSet.
func (deploymentKind) isUpdated(b *comparison, p *cluster.Pod) bool {
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == cluster.Hash(b.updateRevision())
}

func (deploymentKind) updatedTest(r *rollout) func(*cluster.Pod) bool {
	revision := r.storedRevision()
	return func(p *cluster.Pod) bool {
		return revision != "" && p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == cluster.Hash(revision)
	}
}

func (k deploymentKind) stop(*rollout) (StopField, string)     { return stopByPause(k.o) }
func (k deploymentKind) rolloutPending(*rollout) rules.Pending { return rules.DeploymentPending(k.o) }

type replicaSetKind struct {
	anyKind
	o *appsv1.ReplicaSet
}

func (kinds) ReplicaSet(o *appsv1.ReplicaSet) kind {
	return replicaSetKind{anyKind{o}, o}
}

// drivers: its own controller replaces pods that are deleted.
func (replicaSetKind) drivers() []Driver { return []Driver{DriverClient, DriverNative} }

// subject has neither a partition nor an order: a ReplicaSet updates no pod by itself.
func (replicaSetKind) subject(b *comparison) subject {
	n, _ := cluster.Of(b.desired.Object).Replicas()
	s := subject{total: n, limits: Limits{Replicas: n}}
	b.countPods(&s, min(b.activePods(), n), b.updatedPods())
	return s
}

func (k replicaSetKind) clientSpec(sourceObject any) kruiseSpec {
	spec := kruise.CloneSetSpec{MinReadySeconds: k.o.Spec.MinReadySeconds, Selector: k.o.Spec.Selector}
	if c, ok := sourceObject.(*kruise.CloneSet); ok {
		spec = c.Spec
	}
	return cloneSetSpec{clientCloneSet(&spec, k.o.Spec.Replicas)}
}

func (k replicaSetKind) restartSpec(sourceObject any) kruiseSpec { return k.clientSpec(sourceObject) }

// isUpdated compares images where the client has not yet marked the pod.
func (k replicaSetKind) isUpdated(b *comparison, p *cluster.Pod) bool {
	if rules.RevisionOf(p) == "" {
		return !b.templateChanged && sameImages(p, &k.o.Spec.Template)
	}
	return rules.AtRevision(p, b.plan.Change.ToHash)
}

// sameImages reports whether the containers of a pod have the images of a
// template.
func sameImages(p *cluster.Pod, template *corev1.PodTemplateSpec) bool {
	for i := range template.Spec.Containers {
		c := &template.Spec.Containers[i]
		if have, ok := p.Container(c.Name); !ok || have.Image != c.Image {
			return false
		}
	}
	return true
}

func (k replicaSetKind) revision(*rollout) string { return k.o.Spec.Template.Labels[revisionLabel] }

func (replicaSetKind) revised(template map[string]any) map[string]any {
	return withoutRevisionLabel(template)
}
