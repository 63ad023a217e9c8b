package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

type sidecarSetKind struct {
	updating
	ungated
}

func (kinds) SidecarSet(*kruise.SidecarSet) kind { return sidecarSetKind{} }

// policy: a SidecarSet recreates no pod (docs/kruise/sidecarset.md#what-can-change-in-place).
func (sidecarSetKind) policy() UpdatePolicy { return PolicyInPlaceOnly }

func (sidecarSetKind) policies() []UpdatePolicy { return []UpdatePolicy{PolicyInPlaceOnly} }

func (sidecarSetKind) change(old, updated *cluster.Workload, _ UpdatePolicy, _ cluster.Gates) Eligibility {
	return SidecarSetEligible(old.Template, updated.Template)
}

func (sidecarSetKind) refusedRemark(string) string {
	return "pods that have the sidecars keep the old ones until they are recreated"
}
