package rules

import (
	"iter"
	"slices"
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
	// PodChanges is the record of changes of that list, nil where there is none.
	PodChanges *cluster.PodChanges
	// Nodes are needed for scale-down under topology spread constraints.
	Nodes map[string]*cluster.Node
	Gates cluster.Gates
	Now   time.Time
	// Counted is the result of Count(false), for a caller that asks several questions about the
	// same moment; with nil each question counts again.
	Counted *CloneSetCounts
	// Survey is what was seen at the last look; nil has every pod looked at.
	Survey *Survey
}

// active returns the pods that the controller sees.
func (c *CloneSet) active() []*cluster.Pod { return filter(c.Pods, Active) }

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

// CloneSetLimits are the numbers that a CloneSet's spec comes to.
type CloneSetLimits struct {
	Replicas int
	// Partition is how many pods stay at other revisions than the update's.
	Partition int
	// MaxUnavailable is the budget of updates and deletions.
	MaxUnavailable int
	// MaxSurge is how many pods more than Replicas there may be; 0 while
	// paused.
	MaxSurge int
	// ScaleMaxUnavailable limits creation, [unlimited] when not set.
	ScaleMaxUnavailable int
}

// ExpectedUpdated is status.expectedUpdatedReplicas.
func (l CloneSetLimits) ExpectedUpdated() int { return l.Replicas - l.Partition }

// LimitsOfCloneSet resolves the numbers of a spec
// (docs/kruise/workloads.md#percentages-and-defaults, docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#how-many-pods). maxUnavailable as a percentage is rounded up when there
// is no surge, and down when there is or when there is no rollingUpdate at all (OnDelete, where it
// still limits specified deletes).
func LimitsOfCloneSet(spec *kruise.CloneSetSpec) CloneSetLimits {
	replicas := number(spec.Replicas, 1)
	l := CloneSetLimits{Replicas: replicas, ScaleMaxUnavailable: unlimited}
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

// Survey caches, from one pass over a CloneSet to the next, what its rules need of every pod. A
// pod value never changes, so only pods that replaced others are read again: a rollout that updates
// one pod at a time costs as much as its pods, not as their square. Without a record of changes, the
// list is compared with that of the last pass. The zero value is an empty cache, and no answer
// depends on what is cached. It is for one CloneSet and one goroutine.
type Survey struct {
	question surveyQuestion
	now      time.Time
	// mark is how far the record of changes was read.
	mark  cluster.Mark[int]
	pods  []*cluster.Pod // as they were in the list
	notes []note         // of the same places
	// tally is how many pods have exactly these traits.
	tally map[traits]int
	// These are sets of places. restless are active pods in which something may be in
	// progress, held those in PreparingDelete, marked specified deletes that are not held,
	// young ready pods that have not been so for long enough.
	restless, held, marked, young numberSet
	changed                       []int
	// names are those of podsToDelete, named has how many active pods have each, and absent is how
	// many of them no active pod has.
	names  []string
	named  map[string]int
	absent int
	// terms are those of the scatter strategy that the notes are about.
	terms []kruise.UpdateScatterTerm
	ranking
}

// surveyQuestion is what the notes depend on, beside the pods, the time and podsToDelete.
type surveyQuestion struct {
	update   string
	minReady time.Duration
}

// note is what is remembered of the pod at one place of the list.
type note struct {
	traits  traits
	scatter scatterNote
}

// traits are the properties of a pod that the rules of a CloneSet ask for.
type traits uint16

const (
	traitActive traits = 1 << iota
	traitUpdated
	traitReady
	// traitSettled is a lifecycle state in which a ready pod is available.
	traitSettled
	// traitAged is that a ready pod has been so for minReadySeconds.
	traitAged
	traitPreparingUpdate
	traitPreparingDelete
	traitMarked
	traitResting
	// traitAnnounced is an in-place update whose grace period is not over.
	traitAnnounced
)

func (t traits) has(all traits) bool { return t&all == all }

// traitsOf reads a pod, which may be named in podsToDelete.
func (c *CloneSet) traitsOf(p *cluster.Pod, named bool) traits {
	state := StateOf(p)
	return trait(traitActive, Active(p)) | trait(traitUpdated, c.updated(p)) |
		trait(traitReady, Ready(p)) | trait(traitSettled, state == StateNone || state == StateNormal) |
		trait(traitAged, ReadyFor(p, seconds(c.Spec.MinReadySeconds), c.Now)) |
		trait(traitPreparingUpdate, state == StatePreparingUpdate) |
		trait(traitPreparingDelete, state == StatePreparingDelete) |
		trait(traitMarked, named || SpecifiedDelete(p)) | trait(traitResting, Resting(p)) |
		trait(traitAnnounced, p.GraceAnnounced())
}

func trait(t traits, holds bool) traits {
	if holds {
		return t
	}
	return 0
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

// renewed is the survey with what has changed since the last look.
func (c *CloneSet) renewed() *Survey {
	s := c.Survey
	if s == nil {
		s = &Survey{}
	}
	q := surveyQuestion{c.Update, seconds(c.Spec.MinReadySeconds)}
	if s.question != q || c.Now.Before(s.now) || s.tally == nil {
		*s = Survey{question: q, tally: map[traits]int{}, changed: s.changed[:0]}
	}
	s.now = c.Now
	if names := c.Spec.ScaleStrategy.PodsToDelete; !slices.Equal(s.names, names) {
		s.rename(c, names)
	}
	s.changed = otherPods(s.changed[:0], &s.mark, c.PodChanges, s.pods, c.Pods)
	for i := range s.young.all() {
		if i < len(c.Pods) && s.pods[i] == c.Pods[i] && ReadyFor(c.Pods[i], q.minReady, c.Now) {
			s.changed = append(s.changed, i)
		}
	}
	for _, i := range s.changed {
		s.forget(i)
	}
	for i := len(c.Pods); i < len(s.pods); i++ {
		s.forget(i)
	}
	s.resize(len(c.Pods))
	for _, i := range s.changed {
		s.note(i, c.Pods[i], c.traitsOf(c.Pods[i], s.isNamed(c.Pods[i])))
	}
	return s
}

// rename takes other names for those of podsToDelete, and reads the pods again that only one of the
// lists names.
func (s *Survey) rename(c *CloneSet, names []string) {
	before := s.named
	s.names, s.named = slices.Clone(names), make(map[string]int, len(names))
	for _, name := range names {
		s.named[name] = 0
	}
	s.absent = len(s.named)
	for i, p := range s.pods {
		if p == nil {
			continue
		}
		s.countName(i, 1)
		if _, was := before[p.Name]; was != s.isNamed(p) {
			s.forget(i)
			s.note(i, p, c.traitsOf(p, s.isNamed(p)))
		}
	}
}

// isNamed reports whether a pod is in podsToDelete.
func (s *Survey) isNamed(p *cluster.Pod) bool {
	if len(s.named) == 0 {
		return false
	}
	_, ok := s.named[p.Name]
	return ok
}

// countName counts the pod of a place among those that podsToDelete names, or out when by is -1.
func (s *Survey) countName(place, by int) {
	p := s.pods[place]
	if !s.notes[place].traits.has(traitActive) || !s.isNamed(p) {
		return
	}
	n := s.named[p.Name]
	s.named[p.Name] = n + by
	if n == 0 {
		s.absent--
	}
	if n+by == 0 {
		s.absent++
	}
}

// forget takes the pod of a place out.
func (s *Survey) forget(place int) {
	if place >= len(s.pods) || s.pods[place] == nil {
		return
	}
	t := s.notes[place].traits
	if s.tally[t]--; s.tally[t] == 0 {
		delete(s.tally, t)
	}
	for _, set := range []numberSet{s.restless, s.held, s.marked, s.young} {
		set.set(place, false)
	}
	s.ranking.forget(place)
	s.countName(place, -1)
	s.pods[place] = nil
}

// resize has room for n places.
func (s *Survey) resize(n int) {
	s.pods = append(s.pods[:min(n, len(s.pods))], make([]*cluster.Pod, max(n-len(s.pods), 0))...)
	s.notes = append(s.notes[:min(n, len(s.notes))], make([]note, max(n-len(s.notes), 0))...)
	for _, set := range []*numberSet{&s.restless, &s.held, &s.marked, &s.young, &s.ranked, &s.unranked} {
		set.grow(n)
	}
}

// note keeps what was read of the pod of a place.
func (s *Survey) note(place int, p *cluster.Pod, t traits) {
	s.pods[place], s.notes[place] = p, note{traits: t}
	s.tally[t]++
	s.countName(place, 1)
	active, held := t.has(traitActive), t.has(traitPreparingDelete)
	s.restless.set(place, active && !t.has(traitResting))
	s.held.set(place, active && held)
	s.marked.set(place, active && !held && t.has(traitMarked))
	s.young.set(place, t.has(traitReady) && !t.has(traitAged))
	s.unranked.set(place, t.candidate(s.back))
}

// podsAt are the pods of places.
func (s *Survey) podsAt(places iter.Seq[int]) (out []*cluster.Pod) {
	for at := range places {
		out = append(out, s.pods[at])
	}
	return out
}

func (s *Survey) active() (out []*cluster.Pod) {
	for i := range s.notes {
		if s.notes[i].traits.has(traitActive) {
			out = append(out, s.pods[i])
		}
	}
	return out
}

// PodsInTransition are the active pods in which something may be in progress.
func (c *CloneSet) PodsInTransition() []*cluster.Pod {
	s := c.renewed()
	return s.podsAt(s.restless.all())
}

// PodsBecomingAvailable are the ready pods that have not been ready for minReadySeconds.
func (c *CloneSet) PodsBecomingAvailable() []*cluster.Pod {
	s := c.renewed()
	return s.podsAt(s.young.all())
}

// PodsLeftToDelete are the names in podsToDelete that an active pod has. It reports whether these
// are fewer than all.
func (c *CloneSet) PodsLeftToDelete() (left []string, fewer bool) {
	s := c.renewed()
	if s.absent == 0 {
		return s.names, false
	}
	for _, name := range s.names {
		if s.named[name] > 0 {
			left = append(left, name)
		}
	}
	return left, true
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
	asUpdated := scaling && c.Gates.PreparingUpdateAsUpdate
	if c.Counted != nil && !asUpdated {
		return *c.Counted
	}
	n := CloneSetCounts{
		Settled: c.settled(), Rollback: c.Gates.CloneSetPartitionRollback,
		ExcludePreparingDelete: c.Spec.ScaleStrategy.ExcludePreparingDelete,
	}
	for t, pods := range c.renewed().tally {
		if !t.has(traitActive) {
			continue
		}
		side := &n.Old
		if t.has(traitUpdated) || asUpdated && t.has(traitPreparingUpdate) {
			side = &n.New
		}
		side.add(t, pods)
	}
	return n
}

// add counts so many active pods with these traits.
func (side *CloneSetSide) add(t traits, pods int) {
	available := t.has(traitReady | traitSettled | traitAged)
	side.Active += pods
	if t.has(traitReady) {
		side.Ready += pods
	}
	if available {
		side.Available += pods
	}
	switch {
	case t.has(traitPreparingDelete):
		side.PreparingDelete += pods
	case t.has(traitMarked):
		side.Marked += pods
	case !available:
		side.Unavailable += pods
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
