package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// LifecycleState is where a pod is between creation, update and deletion
// (docs/kruise/workloads.md#lifecycle-hooks). It is the value of a label.
type LifecycleState string

// The states. All but StateNone and StateNormal make a pod unavailable.
const (
	StateNone            LifecycleState = ""
	StatePreparingNormal LifecycleState = "PreparingNormal"
	StateNormal          LifecycleState = "Normal"
	StatePreparingUpdate LifecycleState = "PreparingUpdate"
	StateUpdating        LifecycleState = "Updating"
	StateUpdated         LifecycleState = "Updated"
	StatePreparingDelete LifecycleState = "PreparingDelete"
)

// StateOf returns the pod's lifecycle state.
func StateOf(p *cluster.Pod) LifecycleState {
	return LifecycleState(p.LifecycleState())
}

// Hooked reports whether anything of the hook still holds the pod: one listed
// finalizer or one equal label is enough.
func Hooked(hook *kruise.LifecycleHook, p *cluster.Pod) bool {
	if hook == nil {
		return false
	}
	for key, v := range hook.LabelsHandler {
		if got, ok := p.Labels[key]; ok && got == v {
			return true
		}
	}
	return slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return slices.Contains(p.Finalizers, f) })
}

// allHooked reports whether everything of the hook is on the pod; an absent hook
// never is.
func allHooked(hook *kruise.LifecycleHook, p *cluster.Pod) bool {
	if hook == nil {
		return false
	}
	for key, v := range hook.LabelsHandler {
		if got, ok := p.Labels[key]; !ok || got != v {
			return false
		}
	}
	return !slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return !slices.Contains(p.Finalizers, f) })
}

// StateToDelete returns the state of a pod that should go: PreparingDelete while
// the preDelete hook holds it, and remove when nothing does any more.
func StateToDelete(p *cluster.Pod, l *kruise.Lifecycle) (to LifecycleState, remove bool) {
	if l != nil && Hooked(l.PreDelete, p) {
		return StatePreparingDelete, false
	}
	return StateOf(p), true
}

// StateToUpdate returns the state of a pod that was chosen for an in-place
// update: PreparingUpdate while the inPlaceUpdate hook holds it, else Updating,
// and only then its revision label and images change. A pod in Updated is
// prepared again: its hooks are put back.
func StateToUpdate(p *cluster.Pod, l *kruise.Lifecycle) (LifecycleState, error) {
	hook := inPlaceHook(l)
	switch s := StateOf(p); s {
	case StateUpdated:
		if hook != nil {
			return StatePreparingUpdate, nil
		}
	case StateNone, StatePreparingNormal, StateNormal, StatePreparingUpdate, StateUpdating:
		if Hooked(hook, p) && s != StateUpdating {
			return StatePreparingUpdate, nil
		}
	default:
		return s, fmt.Errorf("pod %s cannot be updated in place in lifecycle state %s", p.Name, s)
	}
	return StateUpdating, nil
}

// Refresh is what a controller knows beside the pod when it looks after
// lifecycle states.
type Refresh struct {
	Lifecycle *kruise.Lifecycle
	// AtUpdate is whether the pod carries the update revision.
	AtUpdate bool
	// InPlaceDone is whether its last in-place update is complete.
	InPlaceDone bool
	// WaitForNode makes PreparingNormal wait until the pod is scheduled, as a
	// CloneSet does; an Advanced StatefulSet does not.
	WaitForNode bool
}

// NextState returns the state that a pod moves to by itself, which is its
// present one when it has to wait.
func NextState(p *cluster.Pod, r Refresh) LifecycleState {
	switch s := StateOf(p); s {
	case StatePreparingNormal:
		if r.Lifecycle != nil && r.Lifecycle.PreNormal != nil {
			if allHooked(r.Lifecycle.PreNormal, p) {
				return StateNormal
			}
			return StatePreparingNormal
		}
		if c, ok := p.Condition(string(corev1.PodScheduled)); r.WaitForNode && (!ok || c.Status != corev1.ConditionTrue) {
			return StatePreparingNormal
		}
		return StateNormal
	case StatePreparingUpdate:
		if r.AtUpdate {
			return r.updated(p)
		}
	case StateUpdating:
		if r.InPlaceDone {
			return r.updated(p)
		}
	case StateUpdated:
		if hook := inPlaceHook(r.Lifecycle); hook == nil || allHooked(hook, p) {
			return StateNormal
		}
	}
	return StateOf(p)
}

// updated is the state after an in-place update: Updated until the outside
// actor has put all hooks back.
func (r Refresh) updated(p *cluster.Pod) LifecycleState {
	if r.Lifecycle != nil && !allHooked(r.Lifecycle.InPlaceUpdate, p) {
		return StateUpdated
	}
	return StateNormal
}

// MarksNotReady reports whether entering a state makes the pod not ready
// through the condition KruisePodReady.
func MarksNotReady(to LifecycleState, l *kruise.Lifecycle) bool {
	if l == nil {
		return false
	}
	switch to {
	case StatePreparingUpdate:
		return l.InPlaceUpdate != nil && l.InPlaceUpdate.MarkPodNotReady
	case StatePreparingDelete:
		return l.PreDelete != nil && l.PreDelete.MarkPodNotReady
	}
	return false
}

func inPlaceHook(l *kruise.Lifecycle) *kruise.LifecycleHook {
	if l == nil {
		return nil
	}
	return l.InPlaceUpdate
}

// Hold is a lifecycle hook that a pod waits for: a program outside Kruise has to answer it.
type Hold struct {
	// Hook is the field of spec.lifecycle: preDelete, inPlaceUpdate or preNormal.
	Hook string
	// Wants is what the program has to do.
	Wants string
	// Since is when the pod started to wait; zero if unknown.
	Since time.Time
	// Answer is the change of the pod that answers the hook.
	Answer cluster.PodChange
}

// HeldBy returns the hook that a pod waits for; ok is false where it waits for none
// (docs/kruise/workloads.md#lifecycle-hooks).
func HeldBy(p *cluster.Pod, l *kruise.Lifecycle) (hold Hold, ok bool) {
	if l == nil {
		return Hold{}, false
	}
	var hook *kruise.LifecycleHook
	switch s := StateOf(p); s {
	case StatePreparingUpdate:
		hold.Hook, hook, ok = "inPlaceUpdate", l.InPlaceUpdate, Hooked(l.InPlaceUpdate, p)
	case StatePreparingDelete:
		hold.Hook, hook, ok = "preDelete", l.PreDelete, Hooked(l.PreDelete, p)
	case StateUpdated:
		hold.Hook, hook, ok = "inPlaceUpdate", l.InPlaceUpdate, l.InPlaceUpdate != nil && !allHooked(l.InPlaceUpdate, p)
	case StatePreparingNormal:
		hold.Hook, hook, ok = "preNormal", l.PreNormal, l.PreNormal != nil && !allHooked(l.PreNormal, p)
	}
	if !ok {
		return Hold{}, false
	}
	hold.answer(p, hook)
	// What cannot be read is no time.
	hold.Since, _ = time.Parse(time.RFC3339, p.Annotations[kruise.LifecycleTimestampAnnotation])
	return hold, true
}

// answer fills in what answers the hook: before an update or a deletion its labels and
// finalizers go, afterwards they come back.
func (h *Hold) answer(p *cluster.Pod, hook *kruise.LifecycleHook) {
	h.Answer.Labels = map[string]*string{}
	takes := StateOf(p) == StatePreparingUpdate || StateOf(p) == StatePreparingDelete
	var what []string
	for _, key := range slices.Sorted(maps.Keys(hook.LabelsHandler)) {
		v := hook.LabelsHandler[key]
		if have, there := p.Labels[key]; takes != (there && have == v) {
			continue
		}
		what = append(what, "label "+key+"="+v)
		if h.Answer.Labels[key] = &v; takes {
			h.Answer.Labels[key] = nil
		}
	}
	for _, f := range hook.FinalizersHandler {
		if takes != slices.Contains(p.Finalizers, f) {
			continue
		}
		what = append(what, "finalizer "+f)
		if takes {
			h.Answer.RemoveFinalizers = append(h.Answer.RemoveFinalizers, f)
		} else {
			h.Answer.AddFinalizers = append(h.Answer.AddFinalizers, f)
		}
	}
	verb := " has to be added"
	if takes {
		verb = " has to be removed"
	}
	h.Wants = strings.Join(what, ", ") + verb
}
