package rules

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// CloneSet is a CloneSet with all that its rules look at.
type CloneSet struct {
	Spec *kruise.CloneSetSpec
	// Current and Update are the revisions in the status; an empty Current is
	// read as Update (docs/kruise/workloads.md#revisions).
	Current, Update string
	// Pods are those that the CloneSet owns, in any order.
	Pods []*cluster.Pod
	// Nodes are needed for scale-down under topology spread constraints.
	Nodes map[string]*cluster.Node
	Gates cluster.Gates
	Now   time.Time
	// Answers is what is remembered of Pods, nil for nothing; each answer is the same without it.
	Answers *cluster.Answers
}

// active returns the pods that the controller sees.
func (c *CloneSet) active() []*cluster.Pod { return c.where("active", Active) }

// cloneSetQuestion is what is asked of pods, with what the answer depends on beside the pods.
type cloneSetQuestion struct {
	what, update, named string
	minReady            time.Duration
	back                bool
	priority            *kruise.UpdatePriorityStrategy
	scatter             string
}

func (c *CloneSet) question(what string) cloneSetQuestion {
	q := cloneSetQuestion{what: what, update: c.Update, minReady: seconds(c.Spec.MinReadySeconds)}
	if names := c.Spec.ScaleStrategy.PodsToDelete; len(names) > 0 {
		q.named = strings.Join(names, ",")
	}
	return q
}

// where are the pods for which something is true, in the order of the list. It may depend on the
// pod and on the [cloneSetQuestion].
func (c *CloneSet) where(what string, is func(*cluster.Pod) bool) []*cluster.Pod {
	minReady := seconds(c.Spec.MinReadySeconds)
	return slices.Concat(cluster.Ask(c.Answers, c.question(what), c.Now, c.Pods, func(block []*cluster.Pod) ([]*cluster.Pod, time.Time) {
		return filter(block, is), nextAged(block, minReady, c.Now)
	})...)
}

// rolling returns the rolling update strategy, an empty one when there is none.
func (c *CloneSet) rolling() kruise.RollingUpdateCloneSetStrategy {
	if r := c.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return *r
	}
	return kruise.RollingUpdateCloneSetStrategy{}
}

func (c *CloneSet) updated(p *cluster.Pod) bool { return AtRevision(p, c.Update) }

func (c *CloneSet) available(p *cluster.Pod) bool {
	return Available(p, seconds(c.Spec.MinReadySeconds), c.Now)
}

// marked reports whether the pod is a specified delete: by its label, or named
// in scaleStrategy.podsToDelete.
func (c *CloneSet) marked(p *cluster.Pod) bool {
	return SpecifiedDelete(p) || c.named(p)
}

func (c *CloneSet) named(p *cluster.Pod) bool {
	list := c.Spec.ScaleStrategy.PodsToDelete
	return len(list) > 0 && slices.Contains(list, p.Name)
}

// settled reports whether no rollout is in progress.
func (c *CloneSet) settled() bool {
	return c.Current == "" || cluster.Hash(c.Current) == cluster.Hash(c.Update)
}

func filter(list []*cluster.Pod, keep func(*cluster.Pod) bool) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range list {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

// those are the pods of a list that something is true of, place by place.
func those(list []*cluster.Pod, is []bool) []*cluster.Pod {
	out := make([]*cluster.Pod, 0, len(list))
	for i, p := range list {
		if is[i] {
			out = append(out, p)
		}
	}
	return out
}

func count(list []*cluster.Pod, what func(*cluster.Pod) bool) int {
	n := 0
	for _, p := range list {
		if what(p) {
			n++
		}
	}
	return n
}

func not(f func(*cluster.Pod) bool) func(*cluster.Pod) bool {
	return func(p *cluster.Pod) bool { return !f(p) }
}

// LimitsOfCloneSet resolves the numbers of a spec
// (docs/kruise/workloads.md#percentages-and-defaults, docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#how-many-pods). maxUnavailable as a percentage is rounded up when there
// is no surge, and down when there is or when there is no rollingUpdate at all (OnDelete, where it
// still limits specified deletes).
func LimitsOfCloneSet(spec *kruise.CloneSetSpec) Limits {
	replicas := number(spec.Replicas, 1)
	l := Limits{Replicas: replicas, ScaleMaxUnavailable: unlimited}
	if limit := spec.ScaleStrategy.MaxUnavailable; limit != nil {
		l.ScaleMaxUnavailable = scaled(limit, replicas, true)
	}
	byDefault := intstr.FromString("20%")
	rolling := spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		l.MaxUnavailable = scaled(&byDefault, replicas, false)
		return l
	}
	l.Partition = Partition(rolling.Partition, replicas)
	if rolling.MaxSurge != nil && !rolling.Paused {
		l.MaxSurge = scaled(rolling.MaxSurge, replicas, true)
	}
	l.MaxUnavailable = scaledOr(rolling.MaxUnavailable, byDefault, replicas, l.MaxSurge == 0)
	return l
}

// Resting reports whether nothing can be in progress in a pod: it is in service, in
// the state Normal, and no change is announced. Where an update is in progress, one
// of them is not so.
func Resting(p *cluster.Pod) bool {
	if StateOf(p) != StateNormal {
		return false
	}
	ready, _ := p.Condition(kruise.InPlaceUpdateReady)
	return ready.Status == corev1.ConditionTrue && !p.GraceAnnounced()
}

// held are the active pods whose deletion was begun: their preDelete hook holds them.
func (c *CloneSet) held() []*cluster.Pod {
	return c.where("held", func(p *cluster.Pod) bool { return Active(p) && preparingDelete(p) })
}

// PodsInTransition are the active pods in which something may be in progress.
func (c *CloneSet) PodsInTransition() []*cluster.Pod {
	return c.where("in transition", func(p *cluster.Pod) bool { return Active(p) && !Resting(p) })
}

// PodsBecomingAvailable are the ready pods that have not been ready for minReadySeconds.
func (c *CloneSet) PodsBecomingAvailable() []*cluster.Pod {
	minReady := seconds(c.Spec.MinReadySeconds)
	return c.where("becoming available", func(p *cluster.Pod) bool { return Ready(p) && !ReadyFor(p, minReady, c.Now) })
}

// PodsLeftToDelete are the names in podsToDelete that an active pod has. It reports whether these
// are fewer than all.
func (c *CloneSet) PodsLeftToDelete() (left []string, fewer bool) {
	list := c.Spec.ScaleStrategy.PodsToDelete
	if len(list) == 0 {
		return nil, false
	}
	there := map[string]bool{}
	for _, p := range c.active() {
		there[p.Name] = true
	}
	for _, name := range list {
		if there[name] {
			left = append(left, name)
		}
	}
	return left, len(left) < len(list)
}

// CloneSetSide counts the active pods on one side of a rollout.
type CloneSetSide struct {
	// Active are all of them, those in PreparingDelete included.
	Active int
	// PreparingDelete are held by their preDelete hook.
	PreparingDelete int
	// Marked are specified deletes that are not in PreparingDelete.
	Marked int
	// Unavailable are neither marked nor in PreparingDelete.
	Unavailable int
	// Ready and Available are of all of them, as the status counts them.
	Ready, Available int
}

// CloneSetCounts is what the calculation is made of.
type CloneSetCounts struct {
	// Old are pods at any other revision than the update's.
	Old, New CloneSetSide
	// Settled is whether the current revision is the update revision.
	Settled bool
	// Rollback is the gate CloneSetPartitionRollback.
	Rollback bool
	// ExcludePreparingDelete leaves pods in PreparingDelete out of what the
	// CloneSet has.
	ExcludePreparingDelete bool
}

// CloneSetDiff is the difference between a CloneSet and its desired state.
type CloneSetDiff struct {
	// ScaleUp pods are missing; CreateOld at the current revision and CreateNew
	// at the update revision are made now.
	ScaleUp, CreateOld, CreateNew int
	// ScaleDown pods are too many, DownOld of them taken from the old side.
	ScaleDown, DownOld int
	// DeleteReadyLimit is how many available pods may be deleted now.
	DeleteReadyLimit int
	// Update is how many pods change their revision; a negative number goes
	// back to the current revision.
	Update int
	// UpdateBudget is what the walk over the update order may spend.
	UpdateBudget int
	// Surge is how much of maxSurge is in use.
	Surge int
}

// Count counts the active pods. For scaling, the gate PreparingUpdateAsUpdate
// counts pods in PreparingUpdate as new (docs/kruise/workloads.md#how-many-pods).
func (c *CloneSet) Count(scaling bool) CloneSetCounts {
	n := CloneSetCounts{
		Settled: c.settled(), Rollback: c.Gates.CloneSetPartitionRollback,
		ExcludePreparingDelete: c.Spec.ScaleStrategy.ExcludePreparingDelete,
	}
	what, asUpdated := "count", scaling && c.Gates.PreparingUpdateAsUpdate
	if asUpdated {
		what = "count for scaling"
	}
	for _, sides := range cluster.Ask(c.Answers, c.question(what), c.Now, c.Pods, func(block []*cluster.Pod) ([2]CloneSetSide, time.Time) {
		return c.sides(block, asUpdated), nextAged(block, seconds(c.Spec.MinReadySeconds), c.Now)
	}) {
		n.Old.join(sides[0])
		n.New.join(sides[1])
	}
	return n
}

// sides counts the active pods that are old and new.
func (c *CloneSet) sides(list []*cluster.Pod, asUpdated bool) (sides [2]CloneSetSide) {
	for _, p := range list {
		switch {
		case !Active(p):
		case c.updated(p) || asUpdated && preparingUpdate(p):
			sides[1].add(c, p)
		default:
			sides[0].add(c, p)
		}
	}
	return sides
}

func (side *CloneSetSide) join(o CloneSetSide) {
	side.Active += o.Active
	side.PreparingDelete += o.PreparingDelete
	side.Marked += o.Marked
	side.Unavailable += o.Unavailable
	side.Ready += o.Ready
	side.Available += o.Available
}

// add counts an active pod.
func (side *CloneSetSide) add(c *CloneSet, p *cluster.Pod) {
	ready, available := Ready(p), c.available(p)
	side.Active++
	if ready {
		side.Ready++
	}
	if available {
		side.Available++
	}
	switch {
	case preparingDelete(p):
		side.PreparingDelete++
	case c.marked(p):
		side.Marked++
	case !available:
		side.Unavailable++
	}
}

// Diff is the calculation that precedes scaling and, made again, the update
// (docs/kruise/workloads.md#how-many-pods).
func (l Limits) Diff(n CloneSetCounts) CloneSetDiff {
	total := n.Old.Active + n.New.Active
	unavailable := n.Old.Unavailable + n.New.Unavailable + n.Old.PreparingDelete + n.New.PreparingDelete
	marked := n.Old.Marked + n.New.Marked
	dOld, dNew := l.distance(n)
	surge, surgeOld := l.surge(n, dOld, dNew, unavailable)

	haveOld, have := n.Old.Active, total
	if n.ExcludePreparingDelete {
		haveOld -= n.Old.PreparingDelete
		have -= n.Old.PreparingDelete + n.New.PreparingDelete
	}
	want, wantOld := l.Replicas+surge, l.Partition+surgeOld

	d := CloneSetDiff{Surge: surge, ScaleUp: max(want-have, 0), ScaleDown: max(have-marked-want, 0)}
	create := min(d.ScaleUp, max(l.ScaleMaxUnavailable-unavailable, 0))
	d.CreateOld = min(create, max(wantOld-haveOld, 0))
	d.CreateNew = create - d.CreateOld
	d.DownOld = max(haveOld-n.Old.Marked-wantOld, 0)
	d.UpdateBudget = l.MaxUnavailable + total - l.Replicas
	d.DeleteReadyLimit = max(d.UpdateBudget-unavailable, 0)
	d.Update = dOld
	if abs(dOld) > abs(dNew) {
		d.Update = -dNew
	}
	return d
}

// distance is how many pods each side has too many; without the rollback gate,
// or outside a rollout, updated pods never go back.
func (l Limits) distance(n CloneSetCounts) (dOld, dNew int) {
	dOld = n.Old.Active - n.Old.PreparingDelete - l.Partition
	dNew = n.New.Active - n.New.PreparingDelete - l.MaxUpdate()
	if n.Settled || !n.Rollback {
		return max(dOld, 0), min(dNew, 0)
	}
	return dOld, dNew
}

// surge is how many pods above replicas are wanted now, and how many of them at
// old revisions: for specified deletes beyond the budget, or for the update,
// whichever is more.
func (l Limits) surge(n CloneSetCounts, dOld, dNew, unavailable int) (use, old int) {
	if l.MaxSurge <= 0 {
		return 0, 0
	}
	forDelete := 0
	if marked := n.Old.Marked + n.New.Marked; marked > 0 {
		forDelete = min(max(unavailable+marked-l.MaxUnavailable, 0), marked)
	}
	forUpdate, updateOld := updateSurge(dOld, dNew)
	if forDelete >= forUpdate {
		use = min(l.MaxSurge, forDelete)
		return use, min(use, max(forDelete-n.New.Marked, 0))
	}
	use = min(l.MaxSurge, forUpdate)
	return use, min(use, updateOld)
}

// updateSurge is the surge that an update asks for; its pods are old ones when
// the side that decides is short of old pods or has too many new ones.
func updateSurge(dOld, dNew int) (all, old int) {
	if dOld*dNew >= 0 {
		return 0, 0
	}
	all = min(abs(dOld), abs(dNew))
	if deciding := abs(dOld) <= abs(dNew); (deciding && dOld < 0) || (!deciding && dNew > 0) {
		return all, all
	}
	return all, 0
}

func abs(n int) int { return max(n, -n) }
