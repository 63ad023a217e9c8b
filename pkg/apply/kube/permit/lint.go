package permit

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// Lint is what looking over the objects of a cluster reads. It is not among [Features]:
// nothing is written.
const Lint Feature = "lint"

// linted are the kinds that rules look at, by where they are.
var linted = []struct {
	where     Where
	group     string
	resources []string
}{
	{Beside, "", []string{"pods"}},
	{Beside, "apps", []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
	{Beside, "batch", []string{"cronjobs"}},
	{Beside, "policy", []string{"poddisruptionbudgets"}},
	{Beside, kruise.Group, []string{
		"advancedcronjobs", "broadcastjobs", "clonesets", "daemonsets", "imagelistpulljobs", "imagepulljobs",
		"persistentpodstates", "podprobemarkers", "statefulsets", "uniteddeployments", "workloadspreads",
	}},
	{Beside, kruise.PolicyGroup, []string{"podunavailablebudgets"}},
	{Home, "", []string{"configmaps"}},
	{Home, "apps", []string{"controllerrevisions"}},
	{Everywhere, "", []string{"namespaces"}},
	{Everywhere, kruise.Group, []string{"resourcedistributions", "sidecarsets"}},
}

// lint is what it lists.
func (l *list) lint() {
	for _, s := range linted {
		for _, resource := range s.resources {
			l.maybe(s.where, s.group, resource, "list")
		}
	}
}
