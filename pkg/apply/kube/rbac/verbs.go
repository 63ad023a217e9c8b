package rbac

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Apply writes whole manifests: what rendering makes, or the workloads of Kruise
// themselves. It can create and delete, so it is not among [Features]. Other kinds of
// objects need roles of their own, and Secrets most of all.
const Apply Feature = "apply"

// renderedKinds are the kinds that rendering creates for namespaces, besides workloads.
var renderedKinds = []struct {
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
	for _, kind := range renderedKinds {
		for _, resource := range kind.resources {
			l.add(InNamespace, kind.group, resource, verbs...)
		}
	}
	for _, k := range kinds {
		for _, d := range k.drivers {
			if drives(d) && k.kind != kruise.KindSidecarSet {
				l.add(InNamespace, k.group, k.resource, verbs...)
			}
		}
	}
	// What shows the release of Kruise, see also the needs of a workload.
	l.addOptional(Everywhere, "apiextensions.k8s.io", "customresourcedefinitions", "list")
	if drives(plan.DriverKruise) {
		l.add(Everywhere, kruise.Group, "sidecarsets", verbs...)
		l.add(InNamespace, kruise.PolicyGroup, "podunavailablebudgets", verbs...)
	}
}

// Lint is what checking the objects of a cluster reads. It is not among [Features]:
// nothing is written.
const Lint Feature = "lint"

// lintedKinds are the kinds that rules read, by where they are.
var lintedKinds = []struct {
	where     Where
	group     string
	resources []string
}{
	{InNamespace, "", []string{"pods"}},
	{InNamespace, "apps", []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
	{InNamespace, "batch", []string{"cronjobs"}},
	{InNamespace, "policy", []string{"poddisruptionbudgets"}},
	{InNamespace, kruise.Group, []string{
		"advancedcronjobs", "broadcastjobs", "clonesets", "daemonsets", "imagelistpulljobs", "imagepulljobs",
		"persistentpodstates", "podprobemarkers", "statefulsets", "uniteddeployments", "workloadspreads",
	}},
	{InNamespace, kruise.PolicyGroup, []string{"podunavailablebudgets"}},
	{Home, "", []string{"configmaps"}},
	{Home, "apps", []string{"controllerrevisions"}},
	{Everywhere, "", []string{"namespaces"}},
	{Everywhere, kruise.Group, []string{"resourcedistributions", "sidecarsets"}},
}

// lint is what it lists.
func (l *list) lint() {
	for _, s := range lintedKinds {
		for _, resource := range s.resources {
			l.addOptional(s.where, s.group, resource, "list")
		}
	}
}

// Screens is what the terminal interface reads: every kind that it shows, also of those
// workloads without a rollout. It is not among [Features]: nothing is written.
const Screens Feature = "ui"

// screenKinds are the kinds on the screens, by where they are.
var screenKinds = []struct {
	where     Where
	group     string
	resources []string
}{
	{InNamespace, "", []string{"configmaps", "events", "pods"}},
	{InNamespace, "apps", []string{"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"}},
	{InNamespace, "coordination.k8s.io", []string{"leases"}},
	{InNamespace, "policy", []string{"poddisruptionbudgets"}},
	{InNamespace, kruise.Group, []string{"clonesets", "daemonsets", "imagepulljobs", "statefulsets", "uniteddeployments", "workloadspreads"}},
	{InNamespace, kruise.PolicyGroup, []string{"podunavailablebudgets"}},
	{InNamespace, releases, []string{"rollouts"}},
	{Everywhere, "", []string{"namespaces", "nodes"}},
	{Everywhere, kruise.Group, []string{"nodeimages", "resourcedistributions", "sidecarsets"}},
}

// screens is what they list and watch, and read one by one to show YAML.
func (l *list) screens() {
	for _, s := range screenKinds {
		for _, resource := range s.resources {
			l.addOptional(s.where, s.group, resource, "get", "list", "watch")
		}
	}
	l.addOptional(InNamespace, "", "pods/log", "get")
}
