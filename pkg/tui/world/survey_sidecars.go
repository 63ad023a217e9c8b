package world

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// SurveySidecars sets SidecarSets, each with all pods that it may match, against the
// workloads of these pods, by name. owner is the workload of a pod, which only the
// source knows: a pod names its ReplicaSet, not its Deployment.
func SurveySidecars(sets []diagnose.Question, owner func(*cluster.Pod) cluster.Ref) *Sidecars {
	out := &Sidecars{}
	for _, q := range sets {
		if o, ok := q.Snapshot.Workload.Object.(*kruise.SidecarSet); ok {
			out.Sets = append(out.Sets, sidecarSet(q, o, owner))
		}
	}
	slices.SortFunc(out.Sets, func(a, b *SidecarSet) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func sidecarSet(q diagnose.Question, o *kruise.SidecarSet, owner func(*cluster.Pod) cluster.Ref) *SidecarSet {
	out := &SidecarSet{
		Name: q.Snapshot.Workload.Name, Revision: o.Status.LatestRevision, Paused: o.Spec.UpdateStrategy.Paused,
		Frozen: o.Spec.UpdateStrategy.Type == kruise.NotUpdateSidecarSetStrategyType, Containers: containers(o),
	}
	if p := o.Spec.UpdateStrategy.Partition; p != nil {
		out.Partition = p.String()
	}
	c := &counter{set: controller.SidecarSetRules(q.Snapshot.Workload, o, q.Snapshot.Gates.Release), matched: map[string]bool{}}
	c.set.Pods, c.set.Namespaces = q.Snapshot.Pods, q.Snapshot.Namespaces
	for _, p := range c.set.Matched() {
		c.matched[p.UID] = true
	}
	c.outlook, _ = plan.PreviewOf(q.Snapshot, q.Now)
	selects := c.set.Selects()
	cells := map[cluster.Ref]*SidecarCell{}
	for _, p := range q.Snapshot.Pods {
		if !rules.Active(p) || !selects(p) && !diagnose.In(p, c.set.Name) {
			continue
		}
		ref := owner(p)
		if cells[ref] == nil {
			cells[ref] = &SidecarCell{Workload: ref}
		}
		c.count(cells[ref], p)
	}
	for _, one := range cells {
		out.Matched += one.Matched
		out.Updated += one.Updated
		out.Ready += one.Ready
		out.Cells = append(out.Cells, *one)
	}
	slices.SortFunc(out.Cells, func(a, b SidecarCell) int { return a.Workload.Compare(b.Workload) })
	return out
}

func containers(o *kruise.SidecarSet) []SidecarContainer {
	var out []SidecarContainer
	for _, list := range [][]kruise.SidecarContainer{o.Spec.InitContainers, o.Spec.Containers} {
		for _, c := range list {
			hot := c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade
			out = append(out, SidecarContainer{Name: c.Name, Image: c.Image, Hot: hot})
		}
	}
	return out
}

// counter asks the rules of one set about pods.
type counter struct {
	set     *rules.SidecarSet
	matched map[string]bool
	outlook *plan.Preview
}

func (c *counter) count(to *SidecarCell, p *cluster.Pod) {
	if !c.matched[p.UID] {
		why := "the set matches it and is not in it: only a new pod gets it"
		if diagnose.In(p, c.set.Name) {
			why = c.outlook.BlockedReason(p)
		}
		to.Hold(why, p.Name)
		return
	}
	to.Matched++
	if phase := c.set.HotPhase(p); phase != "" {
		if to.Upgrading == nil {
			to.Upgrading = map[string]string{}
		}
		to.Upgrading[p.Name] = phase
	}
	ready := c.set.Complete(p) && c.set.Ready(p)
	if ready {
		to.Ready++
	}
	if c.set.Updated(p) {
		to.Updated++
		if ready {
			to.UpdatedReady++
		}
		return
	}
	if c.outlook.NotSelected(p) {
		to.Hold(diagnose.LeftOut, p.Name)
		return
	}
	to.Hold(c.outlook.BlockedReason(p), p.Name)
}
