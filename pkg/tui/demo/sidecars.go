package demo

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/survey"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// sidecars sets the shop's SidecarSets against the workloads that are looked at.
func (c *Cluster) sidecars() *world.Sidecars {
	owners := map[string]cluster.Ref{}
	var sets []diagnose.Question
	for _, ref := range c.refs {
		if q, ok := c.sets[ref]; ok {
			q.Snapshot.Pods = slices.DeleteFunc(slices.Clone(q.Snapshot.Pods), func(p *cluster.Pod) bool { return c.space != "" && p.Namespace != c.space })
			sets = append(sets, q)
			continue
		}
		for _, p := range c.details[ref].Snapshot.Pods {
			owners[p.UID] = ref
		}
	}
	return survey.Sidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
}
