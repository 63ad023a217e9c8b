package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

type statefulSetKind struct {
	templated
	updating
	admitted
	o *kruise.StatefulSet
}

func (kinds) StatefulSet(o *kruise.StatefulSet) kind { return statefulSetKind{o: o} }

func (k statefulSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return UpdatePolicy(r.PodUpdatePolicy)
	}
	return PolicyRecreate
}

func (statefulSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}
}

// gateRemark: docs/kruise/workloads.md#advanced-statefulset.
func (statefulSetKind) gateRemark(_, updated *cluster.Workload) string {
	if templateHasGate(updated.Template) {
		return ""
	}
	return "admission refuses an in-place policy of a StatefulSet without the readiness gate " + inPlaceGate + " in its template"
}
