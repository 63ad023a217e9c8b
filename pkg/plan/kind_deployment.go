package plan

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type deploymentKind struct {
	native
	templated
	statusless
	chosenByOthers
	o *appsv1.Deployment
}

func (kinds) Deployment(o *appsv1.Deployment) kind {
	return deploymentKind{templated: templated{o}, o: o}
}

func (deploymentKind) drivers() []Driver { return []Driver{DriverNative} }

func (k deploymentKind) subject(b *builder) subject { return b.deployment(&k.o.Spec) }

func (deploymentKind) source(any) kruiseSpec    { return nil }
func (deploymentKind) restarted(any) kruiseSpec { return nil }
func (deploymentKind) revision(*run) string     { return "" }

// carries reads the hash of the pod's ReplicaSet.
func (deploymentKind) carries(b *builder, p *cluster.Pod) bool {
	return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == cluster.Hash(b.updateRevision())
}

func (deploymentKind) carrying(r *run) func(*cluster.Pod) bool {
	revision := r.named()
	return func(p *cluster.Pod) bool {
		return revision != "" && p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == cluster.Hash(revision)
	}
}

func (k deploymentKind) stop(*run) (StopField, string) { return pausedUnlessSo(k.o) }

func (k deploymentKind) rolloutPending(*run) rules.Pending { return rules.DeploymentPending(k.o) }
