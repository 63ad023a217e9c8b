package split

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// pace writes how many pods of subset i stay at the old revision: what
// manualUpdate says, at most all of them (docs/kruise/distribution.md#update-strategy).
func (x *expansion) pace(spec *tree.Node, i int) error {
	given, count := x.partition(i), x.counts[i]
	strategy := tree.Get(spec, "updateStrategy")
	kind := tree.StrAt(strategy, "type")
	onDelete := kind != "" && kind != "RollingUpdate"
	switch {
	case x.form.paced == never:
		x.reportPartition(i, "uniteddeployment/partition-deployment", "")
		return nil
	case x.form.paced == unlessOnDelete && onDelete:
		x.reportPartition(i, "uniteddeployment/partition-on-delete", "")
		return nil
	case onDelete && tree.Get(strategy, "rollingUpdate", "maxUnavailable") == nil:
		return x.r.Fault("spec.template."+x.form.field+".spec.updateStrategy.type", "use RollingUpdate, or set rollingUpdate.maxUnavailable beside it",
			"no workload would be made: beside the partition that Kruise writes, its webhook wants maxUnavailable, which %s leaves open", kind)
	case given > count:
		x.reportPartition(i, "uniteddeployment/partition-clamped", fmt.Sprintf("%d in place of %d: subset %s has no more replicas", count, given, x.spec.Topology.Subsets[i].Name))
	default:
		x.reportPartition(i, "uniteddeployment/partitions", "")
	}
	if !tree.IsMap(strategy) {
		strategy = tree.Map("type", "RollingUpdate")
		tree.InsertAfter(spec, "selector", "updateStrategy", strategy)
	}
	tree.SetAt(strategy, tree.Int64(int64(min(given, count))), "rollingUpdate", "partition")
	return nil
}

// partition is what manualUpdate says of subset i, 0 when it says nothing.
func (x *expansion) partition(i int) int32 {
	if x.spec.UpdateStrategy.ManualUpdate == nil {
		return 0
	}
	return x.spec.UpdateStrategy.ManualUpdate.Partitions[x.spec.Topology.Subsets[i].Name]
}

// reportPartition reports on a partition that holds something back.
func (x *expansion) reportPartition(i int, id, detail string) {
	if x.partition(i) > 0 {
		x.report(id, "spec.updateStrategy.manualUpdate.partitions["+x.spec.Topology.Subsets[i].Name+"]", detail)
	}
}
