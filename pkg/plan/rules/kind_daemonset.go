package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

type daemonSetKind struct {
	templated
	updating
	admitted
	o *kruise.DaemonSet
}

func (kinds) DaemonSet(o *kruise.DaemonSet) kind { return daemonSetKind{o: o} }

func (k daemonSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.RollingUpdateType == kruise.InPlaceIfPossibleRollingUpdateType {
		return PolicyInPlaceIfPossible
	}
	return PolicyRecreate
}

func (daemonSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible}
}

// gateRemark: docs/kruise/workloads.md#advanced-daemonset.
func (daemonSetKind) gateRemark(old, _ *cluster.Workload) string {
	if PolicyOf(old.Object) != PolicyRecreate {
		return ""
	}
	return "pods made under Standard have no readiness gate " + inPlaceGate + ": those are recreated once"
}
