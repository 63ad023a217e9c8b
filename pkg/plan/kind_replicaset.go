package plan

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type replicaSetKind struct {
	native
	settled
	statusless
	chosenByOthers
	templated
	o *appsv1.ReplicaSet
}

func (kinds) ReplicaSet(o *appsv1.ReplicaSet) kind {
	return replicaSetKind{templated: templated{o}, o: o}
}

// drivers: its own controller replaces what somebody deletes.
func (replicaSetKind) drivers() []Driver { return []Driver{DriverClient, DriverNative} }

func (replicaSetKind) subject(b *builder) subject { return b.replicaSet() }

func (k replicaSetKind) source(kruised any) kruiseSpec {
	spec := kruise.CloneSetSpec{MinReadySeconds: k.o.Spec.MinReadySeconds, Selector: k.o.Spec.Selector}
	if c, ok := kruised.(*kruise.CloneSet); ok {
		spec = c.Spec
	}
	return cloneSetSpec{cloneSource(&spec, k.o.Spec.Replicas)}
}

func (k replicaSetKind) restarted(kruised any) kruiseSpec { return k.source(kruised) }

// carries compares images where the client has not yet marked the pod.
func (k replicaSetKind) carries(b *builder, p *cluster.Pod) bool {
	if rules.RevisionOf(p) == "" {
		return !b.changed && sameImages(p, &k.o.Spec.Template)
	}
	return rules.AtRevision(p, b.plan.Change.ToHash)
}

func (replicaSetKind) carrying(r *run) func(*cluster.Pod) bool { return atRevision(r.named()) }

func (k replicaSetKind) revision(*run) string { return k.o.Spec.Template.Labels[revisionMark] }

func (replicaSetKind) stop(*run) (StopField, string) { return "", "" }

func (replicaSetKind) revised(template map[string]any) map[string]any { return unmarked(template) }
