package split

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// form is one of the four kinds of workload that a UnitedDeployment can hold.
type form struct {
	// field is the key below spec.template.
	field      string
	apiVersion string
	group      string
	kind       string
	// paced says how a partition reaches the workload.
	paced pacing
	// nameLimit is the longest name with which the workload's pods come into
	// being.
	nameLimit int
	// hostnames says that pods are called after the workload, so that its name
	// may not hold dots.
	hostnames bool
}

type pacing int

const (
	// never: the kind has no partition, Kruise ignores what is given.
	never pacing = iota
	// unlessOnDelete: written unless the template's type is OnDelete.
	unlessOnDelete
	// always: written whatever the template's type.
	always
)

// A pod of a StatefulSet or CloneSet carries the label
// controller-revision-hash = NAME-HASH with ten characters of hash, and a label
// value ends at 63. A Deployment's own limit is a DNS subdomain of 253 with the
// eleven characters that its ReplicaSets add.
const (
	revisionLimit   = 63 - 11
	deploymentLimit = 253 - 11
)

// forms in the order of the API type.
var forms = []form{
	{field: "statefulSetTemplate", apiVersion: "apps/v1", group: "apps", kind: kruise.KindStatefulSet, paced: unlessOnDelete, nameLimit: revisionLimit, hostnames: true},
	{field: "advancedStatefulSetTemplate", apiVersion: kruise.Group + "/v1beta1", group: kruise.Group, kind: kruise.KindStatefulSet, paced: unlessOnDelete, nameLimit: revisionLimit, hostnames: true},
	{field: "cloneSetTemplate", apiVersion: kruise.Group + "/v1beta1", group: kruise.Group, kind: kruise.KindCloneSet, paced: always, nameLimit: revisionLimit},
	{field: "deploymentTemplate", apiVersion: "apps/v1", group: "apps", kind: kruise.KindDeployment, paced: never, nameLimit: deploymentLimit},
}

// formOf returns the form that spec.template of the UnitedDeployment gives,
// with the workload template itself; ok is false when there is none.
func formOf(spec *tree.Node) (f form, template *tree.Node, ok bool) {
	for _, f := range forms {
		t := tree.Get(spec, "template", f.field)
		if !tree.IsMap(t) {
			continue
		}
		if f.kind == kruise.KindCloneSet && len(tree.Items(tree.Get(t, "spec", "volumeClaimTemplates"))) > 0 {
			f.hostnames = true // it can only be lowered to a StatefulSet
		}
		return f, t, true
	}
	return form{}, nil, false
}
