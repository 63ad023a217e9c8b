package rules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// model is the pods of a recorded step as its ops change them.
type model struct {
	pods []*cluster.Pod
	// labels and state are what a created pod has.
	labels map[string]string
	state  LifecycleState
}

func (m *model) pod(uid string) *cluster.Pod {
	for _, p := range m.pods {
		if p.UID == uid {
			return p
		}
	}
	return &cluster.Pod{UID: uid, Labels: map[string]string{}}
}

// apply changes the modelled pods as the op says.
func (m *model) apply(op conformance.RolloutOp, at time.Time) {
	p := m.pod(op.UID)
	switch op.Op {
	case "create":
		m.pods = append(m.pods, m.created(op, at))
	case "delete":
		p.Deleting = true
	case "gone":
		m.pods = slices.DeleteFunc(m.pods, func(p *cluster.Pod) bool { return p.UID == op.UID })
	case "markDelete":
		p.Labels[kruise.SpecifiedDeleteLabel] = "true"
	case "inPlaceUpdate":
		m.updateInPlace(p, op)
	case "lifecycle":
		setState(p, LifecycleState(op.To))
	case "markReady", "markNotReady":
		setCondition(p, op.Condition, op.Op == "markReady", at)
	case "ready", "notReady":
		// The start of a pod's first container is not among the ops.
		p.Phase = corev1.PodRunning
		setCondition(p, string(corev1.PodReady), op.Op == "ready", at)
	case "containerStarted":
		p.Phase = corev1.PodRunning
		for i := range p.Containers {
			p.Containers[i].Restarts = max(p.Containers[i].Restarts, op.RestartCount)
		}
	case "finalizers":
		p.Finalizers = op.Finalizers
	case "graceEnd":
		delete(p.Annotations, kruise.InPlaceUpdateGraceAnnotation)
	case "metadata":
		merge(p.Labels, op.Labels)
	}
}

func (m *model) updateInPlace(p *cluster.Pod, op conformance.RolloutOp) {
	if change, ok := op.Revision.(map[string]any); ok {
		p.Labels[cluster.RevisionLabel] = fmt.Sprint(change["to"])
	}
	merge(p.Labels, op.Labels)
	if op.Grace {
		p.Annotations = map[string]string{kruise.InPlaceUpdateGraceAnnotation: "{}"}
	}
}

func (m *model) created(op conformance.RolloutOp, at time.Time) *cluster.Pod {
	p := &cluster.Pod{
		Name: op.Pod, UID: op.UID, Node: op.Node, Phase: corev1.PodPending, Created: at,
		Labels:     map[string]string{cluster.RevisionLabel: fmt.Sprint(op.Revision)},
		Containers: []cluster.Container{{Name: "main"}},
	}
	maps.Copy(p.Labels, m.labels)
	if m.state != StateNone {
		setState(p, m.state)
	}
	setCondition(p, string(corev1.PodScheduled), true, at)
	return p
}

func setCondition(p *cluster.Pod, kind string, ok bool, at time.Time) {
	status := corev1.ConditionFalse
	if ok {
		status = corev1.ConditionTrue
	}
	p.Conditions = append(slices.DeleteFunc(slices.Clone(p.Conditions), func(c cluster.Condition) bool { return c.Type == kind }),
		cluster.Condition{Type: kind, Status: status, Since: at})
}

// merge applies changed labels; null takes one away.
func merge(into map[string]string, changed map[string]any) {
	for k, v := range changed {
		if v == nil {
			delete(into, k)
			continue
		}
		into[k] = fmt.Sprint(v)
	}
}

// moves reports whether a change of lifecycle state is one that the rules make:
// by itself, for an update, or for a deletion.
func (m *model) moves(op conformance.RolloutOp, l *kruise.Lifecycle, refresh Refresh) bool {
	p := m.pod(op.UID)
	gate, ok := p.Condition(kruise.InPlaceUpdateReady)
	refresh.Lifecycle, refresh.InPlaceDone = l, !ok || gate.Status == corev1.ConditionTrue
	if next := NextState(p, refresh); next != StateOf(p) && op.To == string(next) {
		return true
	}
	if next, err := StateToUpdate(p, l); err == nil && op.To == string(next) {
		return true
	}
	next, remove := StateToDelete(p, l)
	return !remove && op.To == string(next)
}
