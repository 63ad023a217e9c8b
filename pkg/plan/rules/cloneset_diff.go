package rules

import "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"

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

// CloneSetDiff says how far a CloneSet is from what it shall be.
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
	asUpdated := scaling && c.Gates.PreparingUpdateAsUpdate
	if c.Counted != nil && !asUpdated {
		return *c.Counted
	}
	n := CloneSetCounts{
		Settled: c.settled(), Rollback: c.Gates.CloneSetPartitionRollback,
		ExcludePreparingDelete: c.Spec.ScaleStrategy.ExcludePreparingDelete,
	}
	for p, t := range c.surveyed() {
		if !t.has(traitActive) {
			continue
		}
		side := &n.Old
		if t.has(traitUpdated) || asUpdated && t.has(traitPreparingUpdate) {
			side = &n.New
		}
		c.add(side, p, t)
	}
	return n
}

func (c *CloneSet) add(side *CloneSetSide, p *cluster.Pod, t traits) {
	available := t.has(traitReady|traitSettled) && (c.Spec.MinReadySeconds <= 0 || ReadyFor(p, seconds(c.Spec.MinReadySeconds), c.Now))
	side.Active++
	if t.has(traitReady) {
		side.Ready++
	}
	if available {
		side.Available++
	}
	switch {
	case t.has(traitPreparingDelete):
		side.PreparingDelete++
	case t.has(traitMarked) || c.named(p):
		side.Marked++
	case !available:
		side.Unavailable++
	}
}

// Diff is the calculation that precedes scaling and, made again, the update
// (docs/kruise/workloads.md#how-many-pods).
func (l CloneSetLimits) Diff(n CloneSetCounts) CloneSetDiff {
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
func (l CloneSetLimits) distance(n CloneSetCounts) (dOld, dNew int) {
	dOld = n.Old.Active - n.Old.PreparingDelete - l.Partition
	dNew = n.New.Active - n.New.PreparingDelete - l.ExpectedUpdated()
	if n.Settled || !n.Rollback {
		return max(dOld, 0), min(dNew, 0)
	}
	return dOld, dNew
}

// surge is how many pods above replicas are wanted now, and how many of them at
// old revisions: for specified deletes beyond the budget, or for the update,
// whichever is more.
func (l CloneSetLimits) surge(n CloneSetCounts, dOld, dNew, unavailable int) (use, old int) {
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
