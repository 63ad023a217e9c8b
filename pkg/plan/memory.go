package plan

import (
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Memory remembers, from one decision about a rollout to the next, what [Next] asks of every pod.
// Pods never change, so only those that took the place of others are read again. The zero value
// remembers nothing, and no decision depends on what it remembers. It is for one rollout and one
// goroutine.
type Memory struct {
	// PodChanges is the record of changes of the one list that all snapshots have as their pods; nil
	// where there is none.
	PodChanges *cluster.PodChanges
	// sidecars is for the pods of a SidecarSet.
	sidecars rules.SidecarSurvey
	// pods are those that were examined last, in their order, restless the places of those that
	// [isQuiet] does not hold for, ascending.
	pods     []*cluster.Pod
	restless []int
	// mark is how far the record of changes was read.
	mark cluster.Mark[int]
	// hashed is the template whose hash was asked for last, of an object of a kind.
	hashed     map[string]any
	hashedKind string
	hash       string
}

// Next is the function [Next].
func (m *Memory) Next(p Plan, s Snapshot, now time.Time) Decision { return next(p, s, now, m) }

// templateHash is the hash of the template of the object that patches are sent to. Templates never
// change: another one has another hash, or is equal.
func (r *rollout) templateHash() string {
	w, m := r.object(), r.memory
	if m == nil {
		return hashOf(w)
	}
	if m.hash == "" || m.hashedKind != w.Kind || reflect.ValueOf(m.hashed).UnsafePointer() != reflect.ValueOf(w.Template).UnsafePointer() {
		m.hashed, m.hashedKind, m.hash = w.Template, w.Kind, hashOf(w)
	}
	return m.hash
}

// unquietPods are the pods that [isQuiet] does not hold for, in their order.
func (m *Memory) unquietPods(list []*cluster.Pod) []*cluster.Pod {
	var out []*cluster.Pod
	if m == nil {
		for _, p := range list {
			if !isQuiet(p) {
				out = append(out, p)
			}
		}
		return out
	}
	if n := len(list); n < len(m.pods) {
		m.pods = m.pods[:n]
		end, _ := slices.BinarySearch(m.restless, n)
		m.restless = m.restless[:end]
	}
	changes, known := m.mark.Since(m.PodChanges)
	if known {
		for _, i := range changes {
			if i < len(m.pods) {
				m.examine(i, list[i])
			}
		}
	} else {
		for i := range m.pods {
			m.examine(i, list[i])
		}
	}
	for i := len(m.pods); i < len(list); i++ {
		m.pods = append(m.pods, nil)
		m.examine(i, list[i])
	}
	for _, place := range m.restless {
		out = append(out, list[place])
	}
	return out
}

// examine reads the pod of a place unless it was there before.
func (m *Memory) examine(place int, p *cluster.Pod) {
	if m.pods[place] != p {
		m.pods[place] = p
		m.note(place, !isQuiet(p))
	}
}

// note keeps whether the pod of a place is restless.
func (m *Memory) note(place int, restless bool) {
	i, was := slices.BinarySearch(m.restless, place)
	switch {
	case restless && !was:
		m.restless = slices.Insert(m.restless, i, place)
	case !restless && was:
		m.restless = slices.Delete(m.restless, i, i+1)
	}
}

// isQuiet reports whether a pod is of no concern to the health of a rollout: it is ready or gone, no
// finalizer holds it, and it is in no state in which a lifecycle hook may.
func isQuiet(p *cluster.Pod) bool {
	switch rules.StateOf(p) {
	case rules.StatePreparingNormal, rules.StatePreparingUpdate, rules.StateUpdated, rules.StatePreparingDelete:
		return false
	}
	return (rules.Ready(p) || !rules.Active(p)) && !heldByFinalizers(p)
}

// heldByFinalizers reports whether a pod is deleted and not gone.
func heldByFinalizers(p *cluster.Pod) bool { return p.Deleting && len(p.Finalizers) > 0 }
