package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// CloneSetScale is what one pass does about the number of pods. At most one of
// the groups is filled, and a pass that has any does not update
// (docs/kruise/workloads.md#one-reconcile).
type CloneSetScale struct {
	// Undo are pods in PreparingDelete that return to PreparingNormal.
	Undo []*cluster.Pod
	// CreateOld and CreateNew are how many pods are made at the current and at
	// the update revision.
	CreateOld, CreateNew int
	// Held are missing pods that scaleStrategy.maxUnavailable does not let be
	// created yet.
	Held int
	// Delete are pods to go now; a preDelete hook may hold each of them first,
	// see [StateToDelete].
	Delete []*cluster.Pod
	// Any are pods that Kruise does not sort, because all of them go in the end:
	// those of them that are in Delete may be exchanged for any other.
	Any []*cluster.Pod
	// Why explains what is done, or what holds it up; it is empty when there is
	// nothing to do.
	Why string
}

// Acts reports whether the pass changes anything.
func (s CloneSetScale) Acts() bool {
	return len(s.Undo)+len(s.Delete)+s.CreateOld+s.CreateNew > 0
}

// Scale decides what one pass does about the number of pods, in the order of
// the controller: take back deletions, create, delete what a hook released,
// delete what was marked, scale down.
func (c *CloneSet) Scale() CloneSetScale {
	l, n := LimitsOfCloneSet(c.Spec), c.Count(true)
	held, marked := n.Old.PreparingDelete+n.New.PreparingDelete, n.Old.Marked+n.New.Marked
	if undo := c.undo(l.Replicas-(n.Old.Active+n.New.Active)+held+marked, held); len(undo) > 0 {
		return CloneSetScale{Undo: undo, Why: fmt.Sprintf("%d held deletions are not needed any more", len(undo))}
	}
	d := l.Diff(n)
	if d.ScaleUp > 0 {
		s := CloneSetScale{CreateOld: d.CreateOld, CreateNew: d.CreateNew, Why: counted.PodsAre(d.ScaleUp) + " missing"}
		if n := d.CreateOld + d.CreateNew; n < d.ScaleUp {
			s.Held = d.ScaleUp - n
			s.Why = fmt.Sprintf("%s missing, scaleStrategy.maxUnavailable lets %d be created now", counted.PodsAre(d.ScaleUp), n)
		}
		return s
	}
	if released := c.released(held); len(released) > 0 {
		return CloneSetScale{Delete: released, Why: fmt.Sprintf("preDelete hook released %s", released[0].Name)}
	}
	if marked > 0 {
		return c.deleteMarked(d)
	}
	if d.ScaleDown == 0 {
		return CloneSetScale{}
	}
	return c.scaleDown(d)
}

// undo returns up to n of the held deletions, which the number of replicas does
// not ask for any more; held is how many there are. A hook that makes pods not
// ready, be it for updates, makes a held deletion final.
func (c *CloneSet) undo(n, held int) []*cluster.Pod {
	if held == 0 || n <= 0 || c.deletesForGood() {
		return nil
	}
	list := filter(c.held(), not(c.marked))
	return inOrder(list)[:upTo(n, len(list))]
}

func (c *CloneSet) deletesForGood() bool {
	l := c.Spec.Lifecycle
	return MarksNotReady(StatePreparingDelete, l) || MarksNotReady(StatePreparingUpdate, l)
}

// released returns the held deletions that no hook holds any more.
func (c *CloneSet) released(held int) []*cluster.Pod {
	if held == 0 {
		return nil
	}
	return filter(c.held(), func(p *cluster.Pod) bool {
		return c.Spec.Lifecycle == nil || !Hooked(c.Spec.Lifecycle.PreDelete, p)
	})
}

func (c *CloneSet) deleteMarked(d CloneSetDiff) CloneSetScale {
	marked := c.where("marked", func(p *cluster.Pod) bool { return Active(p) && c.marked(p) && !preparingDelete(p) })
	list := marked
	if d.DeleteReadyLimit == 0 { // only pods that are not available go
		list = filter(marked, func(p *cluster.Pod) bool { return !Available(p, 0, c.Now) })
	}
	s := c.deleteWithin(inOrder(list), len(marked), d, "marked for deletion")
	s.Any = marked
	return s
}

// scaleDown takes surplus pods, but never while others are on their way out.
func (c *CloneSet) scaleDown(d CloneSetDiff) CloneSetScale {
	if held := c.held(); len(held) > 0 {
		return CloneSetScale{Why: fmt.Sprintf("%s too many; waiting for %s, which its preDelete hook holds", counted.Of(d.ScaleDown, "pod"), held[0].Name)}
	}
	victims := c.Victims(d.ScaleDown, d.DownOld)
	s := c.deleteWithin(victims, len(victims), d, "too many")
	// Any pod of a side that goes as a whole (recorded in 088).
	active := c.active()
	var out []*cluster.Pod
	fromOld := min(d.ScaleDown, d.DownOld)
	if old := filter(active, not(c.updated)); fromOld == len(old) {
		out = append(out, old...)
	}
	if updated := filter(active, c.updated); d.ScaleDown-fromOld == len(updated) {
		out = append(out, updated...)
	}
	s.Any = out
	return s
}

// deleteWithin keeps what the budget allows of total pods: pods that are not available even
// without minReadySeconds always, the others as far as the limit goes. The list has at least those
// that go.
func (c *CloneSet) deleteWithin(list []*cluster.Pod, total int, d CloneSetDiff, because string) CloneSetScale {
	var s CloneSetScale
	left := d.DeleteReadyLimit
	for _, p := range list {
		if Available(p, 0, c.Now) {
			if left <= 0 {
				continue
			}
			left--
		}
		s.Delete = append(s.Delete, p)
	}
	s.Why = counted.Of(total, "pod") + " " + because
	if n := total - len(s.Delete); n > 0 {
		s.Why += fmt.Sprintf(", %d of them %s: maxUnavailable lets %s go now", n, counted.Word(n, "waits", "wait"), counted.Of(d.DeleteReadyLimit, "available pod"))
	}
	return s
}

func preparingDelete(p *cluster.Pod) bool { return StateOf(p) == StatePreparingDelete }

// phaseRank orders phases: Pending before Unknown before Running.
func phaseRank(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
		return 1
	case corev1.PodRunning:
		return 2
	}
	return 0
}

// candidate is a pod that could be removed, with what scale-down compares
// beyond the default order (docs/kruise/workloads.md#scale-down-order).
type candidate struct {
	standing
	available bool
	cost      int
	rank      float64
}

// Victims returns the pods that a scale-down by n takes, downOld of them from
// the old revisions, and in which order.
func (c *CloneSet) Victims(n, downOld int) []*cluster.Pod {
	active := c.active()
	fromOld := min(n, downOld)
	old := c.ScaleDownOrder(filter(active, not(c.updated)))
	updated := c.ScaleDownOrder(filter(active, c.updated))
	return append(slices.Clone(old[:min(fromOld, len(old))]), updated[:min(n-fromOld, len(updated))]...)
}

// ScaleDownOrder sorts the pods of one side by who goes first.
func (c *CloneSet) ScaleDownOrder(group []*cluster.Pod) []*cluster.Pod {
	all := make([]candidate, len(group))
	for i, p := range group {
		all[i] = candidate{standing: standingOf(p), available: c.available(p), cost: deletionCost(p)}
	}
	sortCandidates(all)
	if constraints := c.Spec.Template.Spec.TopologySpreadConstraints; len(constraints) > 0 {
		// Sum over the constraints how crowded the pod's place is: in a place of n pods the i-th gets n-i, weighted by the
		// number of places. A pod whose node does not have the label counts nothing.
		for _, constraint := range constraints {
			place := func(v candidate) (string, bool) {
				node, ok := c.Nodes[v.pod.Node]
				if !ok {
					return "", false
				}
				text, ok := node.Labels[constraint.TopologyKey]
				return text, ok
			}
			per, seen := map[string]int{}, map[string]int{}
			for _, v := range all {
				if text, ok := place(v); ok {
					per[text]++
				}
			}
			weight := math.Log(float64(len(per) + 2))
			for i := range all {
				if text, ok := place(all[i]); ok {
					all[i].rank += float64(per[text]-seen[text]) * weight
					seen[text]++
				}
			}
		}
	} else {
		// Give the pods of a crowded node the higher ranks: of k pods the first gets k-1 and the last 0.
		perNode := map[string]int{}
		for _, v := range all {
			perNode[v.pod.Node]++
		}
		seen := map[string]int{}
		for i := range all {
			node := all[i].pod.Node
			all[i].rank = float64(perNode[node] - 1 - seen[node])
			seen[node]++
		}
	}
	sortCandidates(all)
	out := make([]*cluster.Pod, len(all))
	for i, v := range all {
		out[i] = v.pod
	}
	return out
}

// ScaleDownTies numbers, by UID, the sets of pods that scale-down treats alike: any of a set may go in the place of
// another. What a pod is ranked by is how many others are on its node, or in its places of the spread constraints.
func (c *CloneSet) ScaleDownTies() map[string]int {
	type alike struct {
		tie
		updated, available bool
		cost               int
		crowds             string
	}
	active := c.active()
	places := func(p *cluster.Pod) []string {
		constraints := c.Spec.Template.Spec.TopologySpreadConstraints
		if len(constraints) == 0 {
			return []string{p.Node}
		}
		out := make([]string, len(constraints))
		for i, constraint := range constraints {
			if node := c.Nodes[p.Node]; node != nil {
				out[i] = node.Labels[constraint.TopologyKey]
			}
		}
		return out
	}
	crowd := map[string]int{}
	for _, p := range active {
		for i, place := range places(p) {
			crowd[fmt.Sprint(c.updated(p), i, place)]++
		}
	}
	sets := map[alike][]string{}
	var order []alike
	for _, p := range active {
		k := alike{tie: tieOf(p, priority{}, nil), updated: c.updated(p), available: c.available(p), cost: deletionCost(p)}
		k.preparing = false
		for i, place := range places(p) {
			k.crowds += fmt.Sprint(crowd[fmt.Sprint(k.updated, i, place)], " ")
		}
		if sets[k] == nil {
			order = append(order, k)
		}
		sets[k] = append(sets[k], p.UID)
	}
	out := map[string]int{}
	for i, k := range order {
		for _, uid := range sets[k] {
			if len(sets[k]) > 1 {
				out[uid] = i + 1
			}
		}
	}
	return out
}

func sortCandidates(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		if c := a.compare(b); c != 0 {
			return c
		}
		return byName(a.pod, b.pod)
	})
}

func (a candidate) compare(b candidate) int {
	return cmp.Or(
		falseFirst(a.bound, b.bound),
		cmp.Compare(a.phase, b.phase),
		falseFirst(a.available, b.available),
		falseFirst(a.ready, b.ready),
		cmp.Compare(a.cost, b.cost),
		cmp.Compare(b.rank, a.rank),
		a.compareAge(b.standing),
	)
}

// deletionCost reads the pod's own wish; what is not a number counts as 0.
func deletionCost(p *cluster.Pod) int {
	n, err := strconv.ParseInt(p.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}
