package controller

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// updates says how each pod of a workload comes to the update revision. Templates
// are compared once per old revision, not once per pod.
type updates struct {
	view   *View
	all    []cluster.Revision
	update cluster.Revision
	policy rules.UpdatePolicy
	// revision, labels and grace are those of [inPlaceUpdate].
	revision string
	labels   map[string]string
	grace    int32
	// needsGate is whether only pods with the readiness gate InPlaceUpdateReady
	// can be updated in place.
	needsGate bool
	known     map[string]*fromRevision
}

// fromRevision is the way from one old revision to the update's.
type fromRevision struct {
	eligible rules.Eligibility
	update   *inPlaceUpdate
}

// of returns how a pod is updated, and why; the update is nil unless it is done
// in place.
func (u *updates) of(p *cluster.Pod) (mode rules.UpdateMode, why string, update *inPlaceUpdate) {
	old, stored := revisionOf(u.all, p)
	way := u.known[old.Name]
	if way == nil {
		way = u.compare(old)
		if u.known == nil {
			u.known = map[string]*fromRevision{}
		}
		u.known[old.Name] = way
	}
	mode, why = way.eligible.ForPod(p, stored, u.needsGate)
	switch mode {
	case rules.ModeInPlace, rules.ModeMetadataOnly:
		return mode, why, way.update
	case rules.ModeUnchanged:
		// Another revision of the same template: only the label changes.
		if u.policy != "" && u.policy != rules.PolicyRecreate {
			return mode, why, way.update
		}
	}
	return mode, why, nil
}

func (u *updates) compare(old cluster.Revision) *fromRevision {
	change := rules.TemplateChange{Old: old, New: u.update, Policy: u.policy, Gates: u.view.Gates}
	return &fromRevision{
		eligible: change.Eligible(),
		update:   &inPlaceUpdate{spec: change.InPlaceSpec(), revision: u.revision, labels: u.labels, grace: u.grace},
	}
}
