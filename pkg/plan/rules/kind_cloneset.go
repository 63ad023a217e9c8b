package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

type cloneSetKind struct {
	templated
	updating
	ungated
	o *kruise.CloneSet
}

func (kinds) CloneSet(o *kruise.CloneSet) kind { return cloneSetKind{o: o} }

func (k cloneSetKind) policy() UpdatePolicy {
	if r := k.o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return UpdatePolicy(r.PodUpdatePolicy)
	}
	return PolicyRecreate
}

func (cloneSetKind) policies() []UpdatePolicy {
	return []UpdatePolicy{PolicyRecreate, PolicyInPlaceIfPossible, PolicyInPlaceOnly}
}

// refusedRemark: docs/kruise/workloads.md#when-it-is-impossible.
func (cloneSetKind) refusedRemark(version string) string {
	if version == kruise.V1beta1 {
		return "admission lets it through in " + kruise.V1beta1 + ", and then no pod changes and no event says why"
	}
	return admitted{}.refusedRemark(version)
}
