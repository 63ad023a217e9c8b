package controller

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// InPlace is the update of pods inside themselves as a client makes it where there
// is no Kruise. It writes what Kruise's controllers would, so that whoever looks at
// a pod, a later run or a later Kruise, reads the same story.
type InPlace struct {
	Spec rules.InPlaceSpec
	// Revision is the new one's name, Labels how the pod's labels say it.
	Revision  string
	Labels    map[string]string
	Lifecycle *kruise.Lifecycle
}

// Prepare takes a pod out of its normal life before its containers change.
func (u InPlace) Prepare(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	enterState(&c, p, rules.StatePreparingUpdate, u.lifecycle(), now)
	return c
}

// Start changes labels, metadata and the first batch of containers.
func (u InPlace) Start(p *cluster.Pod, now time.Time) cluster.PodChange {
	update := inPlaceUpdate{spec: u.Spec, revision: u.Revision, labels: u.Labels}
	c := update.start(p, now)
	enterState(&c, p, rules.StateUpdating, u.lifecycle(), now)
	return c
}

// Continue begins the next batch of containers, ends the update, or moves the pod
// on in its lifecycle; ok is false while there is nothing to write.
func (u InPlace) Continue(p *cluster.Pod, node rules.NodeReport, now time.Time) (c cluster.PodChange, ok bool) {
	v := &View{Now: now, Reports: map[string]rules.NodeReport{p.UID: node}}
	if v.beginNext(&c, p) {
		return c, true
	}
	v.refreshInPlace(&c, p)
	done := rules.InPlacePending(p, node).Done()
	if to := rules.NextState(p, rules.Refresh{Lifecycle: u.Lifecycle, AtUpdate: true, InPlaceDone: done}); to != rules.StateOf(p) {
		enterState(&c, p, to, u.lifecycle(), now)
		if to == rules.StateNormal {
			// Kruise lets a pod go on entering Updated alone; one whose template was taken
			// back while it was prepared would stay not ready for good.
			letReady(&c, p, preUpdateHook)
		}
	}
	return c, !empty(&c)
}

// PrepareDelete marks a pod that a preDelete hook holds.
func (u InPlace) PrepareDelete(p *cluster.Pod, now time.Time) cluster.PodChange {
	var c cluster.PodChange
	enterState(&c, p, rules.StatePreparingDelete, u.lifecycle(), now)
	return c
}

func (u InPlace) lifecycle() *kruise.Lifecycle {
	if u.Lifecycle == nil {
		return &kruise.Lifecycle{}
	}
	return u.Lifecycle
}
