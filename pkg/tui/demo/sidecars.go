package demo

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/survey"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// sidecars sets the shop's SidecarSets against its workloads.
func (c *Cluster) sidecars() *world.Sidecars {
	owners := map[string]cluster.Ref{}
	var sets []diagnose.Question
	for _, ref := range c.refs {
		if q, ok := c.sets[ref]; ok {
			sets = append(sets, q)
			continue
		}
		for _, p := range c.details[ref].Snapshot.Pods {
			owners[p.UID] = ref
		}
	}
	return survey.Sidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
}
