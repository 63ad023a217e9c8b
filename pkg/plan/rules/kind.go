package rules

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// kind is what the rules of updating differ in between kinds of workload. Each kind
// answers in a file of its own, kind_*.go.
type kind interface {
	// policy is how the object updates its pods; "" is [PolicyRecreate].
	policy() UpdatePolicy
	// policies are all that the kind knows.
	policies() []UpdatePolicy
	// change says what a change of the workload does to its pods under a policy.
	change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility
	// strategyRemark says what the kind makes of a new template whatever its strategy.
	strategyRemark() string
	// gateRemark says what an in-place policy asks of readiness gates.
	gateRemark(old, updated *cluster.Workload) string
	// refusedRemark says who refuses a change that no pod can take, in a version.
	refusedRemark(version string) string
}

// kindOf is the kind of a typed object. What is no workload is treated as one of
// Kubernetes.
func kindOf(obj any) kind {
	if k := cluster.By(obj, cluster.Kinds[kind](kinds{})); k != nil {
		return k
	}
	return native{}
}

// kinds has the kind of each workload; its methods are in the files of the kinds.
type kinds struct{}

// templated is for kinds whose revisions are made of spec.template.
type templated struct{}

func (templated) change(old, updated *cluster.Workload, policy UpdatePolicy, gates cluster.Gates) Eligibility {
	return TemplateChange{
		Old:    cluster.Revision{Template: old.Template, ClaimsHash: claims(old.Object)},
		New:    cluster.Revision{Template: updated.Template, ClaimsHash: claims(updated.Object)},
		Policy: policy, Gates: gates,
	}.Eligible()
}

// updating is for kinds whose controller updates pods, as the strategy says.
type updating struct{}

func (updating) strategyRemark() string { return "" }

// ungated is for kinds that ask no more of readiness gates.
type ungated struct{}

func (ungated) gateRemark(_, _ *cluster.Workload) string { return "" }

// admitted is for kinds whose admission refuses what no pod can take.
type admitted struct{}

func (admitted) refusedRemark(string) string { return "admission refuses the change" }
