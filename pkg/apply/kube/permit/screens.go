package permit

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// Screens is what the terminal interface reads: every kind that it shows, also of those
// workloads that nobody rolls out. It is not among [Features]: nothing is written.
const Screens Feature = "ui"

// shown are the kinds on the screens, by where they are.
var shown = []struct {
	where     Where
	group     string
	resources []string
}{
	{Beside, "", []string{"configmaps", "events", "pods"}},
	{Beside, "apps", []string{"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"}},
	{Beside, "coordination.k8s.io", []string{"leases"}},
	{Beside, "policy", []string{"poddisruptionbudgets"}},
	{Beside, kruise.Group, []string{"clonesets", "daemonsets", "imagepulljobs", "statefulsets", "uniteddeployments", "workloadspreads"}},
	{Beside, kruise.PolicyGroup, []string{"podunavailablebudgets"}},
	{Beside, releases, []string{"rollouts"}},
	{Everywhere, "", []string{"namespaces", "nodes"}},
	{Everywhere, kruise.Group, []string{"nodeimages", "resourcedistributions", "sidecarsets"}},
}

// screens is what they list and watch, and read one by one when somebody asks for YAML.
func (l *list) screens() {
	for _, s := range shown {
		for _, resource := range s.resources {
			l.maybe(s.where, s.group, resource, "get", "list", "watch")
		}
	}
	l.maybe(Beside, "", "pods/log", "get")
}
