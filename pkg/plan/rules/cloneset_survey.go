package rules

import (
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Survey remembers, from one look at a CloneSet to the next, what its rules ask
// of every pod. Pods never change, so only those are read that stand in the place
// of others: ten thousand that stayed cost less than reading a hundred. Its zero
// value remembers nothing, and no answer depends on what it remembers. It is for
// one CloneSet and one goroutine.
type Survey struct {
	// update is the revision that the notes are about.
	update string
	notes  []note
	// terms are those of the scatter strategy that the notes are about.
	terms []kruise.UpdateScatterTerm
	ranking
}

// note is what is remembered of the pod at one place of the list.
type note struct {
	pod    *cluster.Pod
	traits traits
	// terms has a bit for each term of the scatter strategy whose label the pod has, once
	// it was asked for.
	terms uint64
	asked bool
}

// traits are what can be said of a pod without a clock.
type traits uint16

const (
	traitActive traits = 1 << iota
	traitUpdated
	traitReady
	// traitSettled is a lifecycle state in which a ready pod is available.
	traitSettled
	traitPreparingUpdate
	traitPreparingDelete
	traitMarked
	traitResting
	// traitAnnounced is an in-place update whose grace period is not over.
	traitAnnounced
	// traitRanked says that the place has its rank.
	traitRanked
)

func (t traits) has(all traits) bool { return t&all == all }

// traitsOf reads a pod.
func traitsOf(p *cluster.Pod, update string) traits {
	state := StateOf(p)
	return trait(traitActive, Active(p)) | trait(traitUpdated, AtRevision(p, update)) |
		trait(traitReady, Ready(p)) | trait(traitSettled, state == StateNone || state == StateNormal) |
		trait(traitPreparingUpdate, state == StatePreparingUpdate) |
		trait(traitPreparingDelete, state == StatePreparingDelete) |
		trait(traitMarked, SpecifiedDelete(p)) | trait(traitResting, Resting(p)) |
		trait(traitAnnounced, p.GraceAnnounced())
}

func trait(t traits, holds bool) traits {
	if holds {
		return t
	}
	return 0
}

// Resting reports whether nothing can be under way in a pod: it is in service, in
// the state Normal, and no change is announced. Where an update is under way, one
// of them is not so.
func Resting(p *cluster.Pod) bool {
	if StateOf(p) != StateNormal {
		return false
	}
	ready, _ := p.Condition(kruise.InPlaceUpdateReady)
	return ready.Status == corev1.ConditionTrue && !p.GraceAnnounced()
}

// surveyed are the pods with their traits.
func (c *CloneSet) surveyed() iter.Seq2[*cluster.Pod, traits] {
	notes := c.renewed().notes
	return func(yield func(*cluster.Pod, traits) bool) {
		for i := range notes {
			if !yield(notes[i].pod, notes[i].traits) {
				return
			}
		}
	}
}

// renewed is the survey with what has changed since the last look.
func (c *CloneSet) renewed() *Survey {
	s := c.Survey
	if s == nil {
		s = &Survey{}
	}
	if s.update != c.Update {
		s.update = c.Update
		clear(s.notes)
	}
	s.resize(len(c.Pods))
	for i, p := range c.Pods {
		if s.notes[i].pod != p {
			s.notes[i] = note{pod: p, traits: traitsOf(p, c.Update)}
		}
	}
	return s
}

func (s *Survey) podsAt(places []int) []*cluster.Pod {
	out := make([]*cluster.Pod, len(places))
	for i, at := range places {
		out[i] = s.notes[at].pod
	}
	return out
}

func (s *Survey) active() (out []*cluster.Pod) {
	for i := range s.notes {
		if s.notes[i].traits.has(traitActive) {
			out = append(out, s.notes[i].pod)
		}
	}
	return out
}

// resize forgets pods beyond the end of the list.
func (s *Survey) resize(n int) {
	if n < len(s.notes) {
		clear(s.notes[n:])
	}
	if n > cap(s.notes) {
		s.notes = append(make([]note, 0, n+n/4), s.notes...)
	}
	s.notes = s.notes[:n]
}

// Restless are the active pods in which something may be under way.
func (c *CloneSet) Restless() []*cluster.Pod {
	var out []*cluster.Pod
	for p, t := range c.surveyed() {
		if t.has(traitActive) && !t.has(traitResting) {
			out = append(out, p)
		}
	}
	return out
}
