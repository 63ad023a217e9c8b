package permit

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Apply writes whole manifests: what rendering makes, or the workloads of Kruise
// themselves. It can create and delete, so it is not among [Features]. Other kinds of
// objects need roles of their own, and Secrets most of all.
const Apply Feature = "apply"

// rendered are the kinds that rendering makes for namespaces, beside workloads.
var rendered = []struct {
	group     string
	resources []string
}{
	{"", []string{"configmaps", "services"}},
	{"batch", []string{"cronjobs", "jobs"}},
	{"policy", []string{"poddisruptionbudgets"}},
}

// apply is what writing manifests needs, with the set that they belong to.
func (l *list) apply(drives func(plan.Driver) bool) {
	verbs := []string{"get", "list", "watch", "create", "patch", "delete"}
	for _, kind := range rendered {
		for _, resource := range kind.resources {
			l.add(Beside, kind.group, resource, verbs...)
		}
	}
	for _, k := range kinds {
		for _, d := range k.drivers {
			if drives(d) && k.kind != kruise.KindSidecarSet {
				l.add(Beside, k.group, k.resource, verbs...)
			}
		}
	}
	// What tells the release of Kruise, see also the needs of a workload.
	l.maybe(Everywhere, "apiextensions.k8s.io", "customresourcedefinitions", "list")
	if drives(plan.DriverKruise) {
		l.add(Everywhere, kruise.Group, "sidecarsets", verbs...)
		l.add(Beside, kruise.PolicyGroup, "podunavailablebudgets", verbs...)
	}
}
