package rules

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DaemonSetManage is what every pass does about nodes, paused or not: new pods
// are always of the newest revision (docs/kruise/workloads.md#advanced-daemonset).
type DaemonSetManage struct {
	// Create are the names of the nodes that get a pod now.
	Create []string
	// Remove are pods on nodes that should have none, failed pods and
	// duplicates.
	Remove []*cluster.Pod
}

// Manage decides which pods are created and removed to have one per node. A
// terminating pod keeps its node until it is gone.
func (d *DaemonSet) Manage() DaemonSetManage {
	var out DaemonSetManage
	l := d.Limits()
	for _, node := range d.Nodes {
		if node.ShouldRun && len(node.Pods) == 0 {
			out.Create = append(out.Create, node.Name)
		}
		out.Remove = append(out.Remove, d.superfluous(node, l.MaxSurge > 0)...)
	}
	slices.Sort(out.Create)
	slices.SortFunc(out.Remove, byName)
	if limit, limited := d.progressive(l); limited {
		out.Create = out.Create[:min(limit, len(out.Create))]
	}
	out.Create = out.Create[:upTo(l.Burst, len(out.Create))]
	out.Remove = out.Remove[:upTo(l.Burst, len(out.Remove))]
	return out
}

// progressive is how many nodes may get a pod under partitionedScaling, which
// works only with a partition.
func (d *DaemonSet) progressive(l DaemonSetLimits) (limit int, limited bool) {
	if d.Spec.ScaleStrategy == nil || !d.Spec.ScaleStrategy.PartitionedScaling || l.Partition == 0 {
		return 0, false
	}
	updated := 0
	for _, node := range d.Nodes {
		updated += count(node.Pods, func(p *cluster.Pod) bool { return !p.Deleting && d.updated(p) })
	}
	desired := d.desired()
	return max(desired-updated-upTo(l.Partition, desired), 0), true
}

// superfluous returns the pods of a node that have to go: all where it may have
// none. Of several pods the oldest stays; an old and a new one may stand side by
// side under maxSurge.
func (d *DaemonSet) superfluous(node DaemonNode, surge bool) []*cluster.Pod {
	if node.ShouldRun && len(node.Pods) == 1 && !failed(node.Pods[0]) {
		return nil
	}
	living := filter(node.Pods, func(p *cluster.Pod) bool { return !p.Deleting })
	if !node.ShouldRun && !node.Stay {
		return living
	}
	out := filter(living, failed)
	living = filter(living, not(failed))
	if !surge {
		return append(out, allButOldest(living)...)
	}
	out = append(out, allButOldest(filter(living, d.updated))...)
	return append(out, allButOldest(filter(living, not(d.updated)))...)
}

func allButOldest(list []*cluster.Pod) []*cluster.Pod {
	if len(list) < 2 {
		return nil
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *cluster.Pod) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list[1:]
}

func failed(p *cluster.Pod) bool { return p.Phase == corev1.PodFailed }
