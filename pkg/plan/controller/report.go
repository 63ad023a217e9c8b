package controller

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// reportOn is what the node says of a pod. Where it says nothing there is
// nothing pending, but for images, which the status tells.
func reportOn(reports map[string]rules.NodeReport, p *cluster.Pod) rules.NodeReport {
	if r, ok := reports[p.UID]; ok {
		return r
	}
	return rules.NodeReport{EnvHashes: true, Resources: true}
}
