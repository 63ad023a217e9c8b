package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// DaemonSet is an Advanced DaemonSet with all that its rules look at.
type DaemonSet struct {
	Spec *kruise.DaemonSetSpec
	// Update is the update revision, full name or hash.
	Update string
	// TemplateGeneration is the annotation that also marks pods as updated.
	TemplateGeneration string
	// Nodes are all that have or should have one of its pods.
	Nodes []DaemonNode
	// Missing is how many more nodes should have a pod: none is there, so it is not known
	// which nodes they are. It is a number, since it comes from a status.
	Missing int
	// Scheduled is status.desiredNumberScheduled, the base of the partition.
	Scheduled int
	Now       time.Time
}

// DaemonNode is a node with the DaemonSet's pods on it.
type DaemonNode struct {
	*cluster.Node
	// ShouldRun is whether the DaemonSet wants a pod here.
	ShouldRun bool
	// Stay is whether a node that should not run a pod may keep those it has, as
	// under a taint that only keeps new ones away.
	Stay bool
	Pods []*cluster.Pod
}

// Limits resolves the numbers of the spec. maxUnavailable and maxSurge are of
// the nodes that should run a pod now, rounded up; partition and burstReplicas
// of status.desiredNumberScheduled, rounded down
// (docs/kruise/workloads.md#percentages-and-defaults).
func (d *DaemonSet) Limits() Limits {
	l := Limits{
		MaxUnavailable: 1,
		Burst:          scaledOr(d.Spec.BurstReplicas, intstr.FromInt32(250), d.Scheduled, false),
	}
	r := d.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return l
	}
	l.Partition = DaemonSetPartition(r.Partition, d.Scheduled)
	desired := d.desired()
	if r.MaxSurge != nil {
		l.MaxSurge = scaled(r.MaxSurge, desired, true)
	}
	if r.MaxUnavailable != nil || l.MaxSurge > 0 {
		l.MaxUnavailable = scaledOr(r.MaxUnavailable, intstr.FromInt32(0), desired, true)
	}
	return l
}

// desired counts the nodes that should run a pod.
func (d *DaemonSet) desired() int {
	n := d.Missing
	for _, node := range d.Nodes {
		if node.ShouldRun {
			n++
		}
	}
	return n
}

// daemons are the living pods of one node, by revision.
type daemons struct {
	node     DaemonNode
	old, new *cluster.Pod
	// surplus is true when there is more than one of a kind; old and new are
	// not set then.
	surplus bool
}

// onNode sorts out the pods of a node; terminating ones are gone.
func (d *DaemonSet) onNode(node DaemonNode) daemons {
	out := daemons{node: node}
	for _, p := range node.Pods {
		if p.Deleting {
			continue
		}
		side := &out.old
		if d.updated(p) {
			side = &out.new
		}
		if *side != nil {
			return daemons{node: node, surplus: true}
		}
		*side = p
	}
	return out
}

func (d *DaemonSet) updated(p *cluster.Pod) bool {
	if g := d.TemplateGeneration; g != "" && p.Labels[templateGenerationLabel] == g {
		return true
	}
	return AtRevision(p, d.Update)
}

const templateGenerationLabel = "pod-template-generation"

// available is what a DaemonSet asks: ready, for long enough.
func (d *DaemonSet) available(p *cluster.Pod) bool {
	return p.Phase == corev1.PodRunning && podReady(p) && ReadyFor(p, seconds(d.Spec.MinReadySeconds), d.Now)
}

// Standing is what a pod counts as in the status.
func (d *DaemonSet) Standing(p *cluster.Pod) (ready, available, updated bool) {
	return podReady(p), d.available(p), d.updated(p)
}

// Eligible returns the nodes that the update may be on: first those that it has
// reached, then those whose old pod is gone or going, then outdated ones that
// the selector matches; as many as the partition leaves
// (docs/kruise/workloads.md#advanced-daemonset). Inside this set the order in which Kruise goes is
// random.
func (d *DaemonSet) Eligible() []DaemonNode {
	list, _ := d.eligible()
	return list
}

// eligible also reports how many of the missing nodes are among them: their pods are gone.
func (d *DaemonSet) eligible() (list []DaemonNode, missing int) {
	var reached, vacant, outdated []DaemonNode
	chosen := d.selector()
	// The nodes as an update looks at them: by the text of their names, n9 before n10.
	out := slices.Clone(d.Nodes)
	slices.SortFunc(out, func(a, b DaemonNode) int { return strings.Compare(b.Name, a.Name) })
	for _, node := range out {
		switch on := d.onNode(node); {
		case on.new != nil || on.surplus:
			reached = append(reached, node)
		case on.old == nil || preparingDelete(on.old):
			vacant = append(vacant, node)
		case chosen.Matches(labels.Set(node.Labels)):
			outdated = append(outdated, node)
		}
	}
	list = slices.Concat(reached, vacant, outdated)
	room := len(d.Nodes) + d.Missing - d.Limits().Partition
	missing = upTo(room-len(reached)-len(vacant), d.Missing)
	return list[:upTo(room-missing, len(list))], missing
}

// selector returns which nodes an update may go to.
func (d *DaemonSet) selector() labels.Selector {
	r := d.Spec.UpdateStrategy.RollingUpdate
	if r == nil || r.Selector == nil {
		return labels.Everything()
	}
	return selectorOf(r.Selector)
}

func (d *DaemonSet) paused() bool {
	r := d.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.Paused != nil && *r.Paused
}

// DaemonSetUpdate is what one pass of an update may do. Which of the candidates
// come first is random in Kruise: Room of them, any.
type DaemonSetUpdate struct {
	// Broken are old pods that are not available; they are replaced outside
	// the budget.
	Broken []*cluster.Pod
	// Candidates are old pods that are available, of which Room go now: updated
	// in place or deleted, or, under maxSurge, joined by a new pod.
	Candidates []*cluster.Pod
	Room       int
	// Surge is true when a new pod is created beside the old one, for Broken
	// and Candidates alike.
	Surge bool
	// Finished are old pods whose new neighbour is available; they go.
	Finished []*cluster.Pod
	// Why is the deciding reason.
	Why string
}

// ChooseUpdate decides what a pass of the update does
// (docs/kruise/workloads.md#advanced-daemonset).
func (d *DaemonSet) ChooseUpdate() DaemonSetUpdate {
	switch {
	case d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return DaemonSetUpdate{Why: "update strategy OnDelete: pods are updated when they are deleted"}
	case d.paused():
		return DaemonSetUpdate{Why: "paused"}
	}
	l := d.Limits()
	out := DaemonSetUpdate{Surge: l.MaxSurge > 0, Room: l.MaxUnavailable}
	busy := d.busyInPlace
	list, counted := d.eligible()
	if out.Surge { // which a pod that is missing uses none of
		out.Room, busy, counted = l.MaxSurge, d.busySurging, 0
	}
	for _, node := range list {
		on := d.onNode(node)
		if busy(on) {
			counted++
		}
		d.sortOut(&out, on)
	}
	out.Room = upTo(out.Room-counted, len(out.Candidates))
	out.explain(counted)
	return out
}

// sortOut puts the old pod of a node where it belongs.
func (d *DaemonSet) sortOut(out *DaemonSetUpdate, on daemons) {
	switch {
	case on.old == nil || preparingDelete(on.old):
	case on.new != nil:
		if out.Surge && d.available(on.new) {
			out.Finished = append(out.Finished, on.old)
		}
	case !d.available(on.old):
		out.Broken = append(out.Broken, on.old)
	default:
		out.Candidates = append(out.Candidates, on.old)
	}
}

// busyInPlace reports whether a node uses maxUnavailable up. An old pod that its
// preDelete hook holds is on its way out and counts.
func (d *DaemonSet) busyInPlace(on daemons) bool {
	switch {
	case on.surplus, on.old != nil && on.new != nil, on.old == nil && on.new == nil:
		return true
	case on.new != nil:
		return !d.available(on.new) || preparingDelete(on.new)
	}
	return preparingDelete(on.old)
}

// busySurging reports whether a node uses maxSurge up.
func (d *DaemonSet) busySurging(on daemons) bool {
	return on.old != nil && on.new != nil && !d.available(on.new)
}

func (u *DaemonSetUpdate) explain(busy int) {
	switch {
	case len(u.Candidates)+len(u.Broken) == 0:
		u.Why = "no eligible node has an old pod"
	case u.Room == len(u.Candidates):
		u.Why = "these are all"
	default:
		u.Why = fmt.Sprintf("%s busy: any %d of %d go now", counted.With(busy, "eligible node is", "eligible nodes are"), u.Room, len(u.Candidates))
	}
}

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
func (d *DaemonSet) progressive(l Limits) (limit int, limited bool) {
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

// superfluous returns the pods of a node that must be deleted: all of them if the node should have
// none. Of several pods the oldest stays; under maxSurge an old and a new one may run side by
// side.
func (d *DaemonSet) superfluous(node DaemonNode, surge bool) []*cluster.Pod {
	if node.ShouldRun && len(node.Pods) == 1 && node.Pods[0].Phase != corev1.PodFailed {
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

// Selected is how many nodes updateStrategy.rollingUpdate.selector matches, as
// [DaemonSetStepPending] asks for it: -1 without a selector.
func (d *DaemonSet) Selected() int {
	if r := d.Spec.UpdateStrategy.RollingUpdate; r == nil || r.Selector == nil {
		return -1
	}
	chosen, n := d.selector(), 0
	for _, node := range d.Nodes {
		if node.ShouldRun && chosen.Matches(labels.Set(node.Labels)) {
			n++
		}
	}
	return n
}

// AsDaemonSetSpec reads a DaemonSet of Kubernetes as an Advanced DaemonSet
// without partition, selector and pause: its controller goes by the same rules,
// so [DaemonSet.ChooseUpdate] and [DaemonSet.Manage] answer for it.
func AsDaemonSetSpec(native *appsv1.DaemonSetSpec) *kruise.DaemonSetSpec {
	out := &kruise.DaemonSetSpec{
		Selector: native.Selector, Template: native.Template, MinReadySeconds: native.MinReadySeconds,
		RevisionHistoryLimit: native.RevisionHistoryLimit,
		UpdateStrategy:       kruise.DaemonSetUpdateStrategy{Type: native.UpdateStrategy.Type},
	}
	if r := native.UpdateStrategy.RollingUpdate; r != nil {
		out.UpdateStrategy.RollingUpdate = &kruise.RollingUpdateDaemonSet{MaxUnavailable: r.MaxUnavailable, MaxSurge: r.MaxSurge}
	}
	return out
}
