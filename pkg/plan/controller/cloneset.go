package controller

import (
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// cloneSet is a CloneSet in one pass.
type cloneSet struct {
	*kruise.CloneSet
	view *View
	pass Pass
	// update and current are the revisions between which it stands, revisions
	// all that it has.
	update, current string
	revisions       []cluster.Revision
	rule            rules.CloneSet
	// failed is why the update stopped, as the condition FailedUpdate has it, and
	// failedScale why scaling did.
	failed, failedScale string
}

// reconcileCloneSet makes one pass of a CloneSet, in the order of
// docs/kruise/workloads.md#one-reconcile.
func reconcileCloneSet(v *View, o *kruise.CloneSet) Pass {
	s := &cloneSet{CloneSet: o, view: v}
	s.findRevisions()
	s.rule = rules.CloneSet{
		Spec: &o.Spec, Current: s.current, Update: s.update,
		Pods: v.Pods, Nodes: v.Nodes, Gates: v.Gates, Now: v.Now, Survey: v.Survey,
	}
	s.rule.Counted = new(s.rule.Count(false))
	claims := s.tidyClaims()
	if s.scale(claims) {
		s.pass.IfRefused = s.refused
	} else {
		s.roll()
	}
	s.finish()
	return s.pass
}

// finish is what every pass ends with.
func (s *cloneSet) finish() {
	s.writeStatus()
	s.forgetDeleted()
	s.view.dropRevisions(&s.pass, s.revisions, s.Spec.RevisionHistoryLimit, s.current, s.update)
	s.pass.lookAgain(untilAvailable(s.view.Pods, s.Spec.MinReadySeconds, s.view.Now))
}

// refused goes on when scaling could not create or delete a pod. If it was the
// first then nothing has changed, and updates are looked after all the same: else
// a budget that waits for new pods to be ready would wait forever.
func (s *cloneSet) refused(done int, why error) Pass {
	changed := slices.ContainsFunc(s.pass.Actions[:done], func(a Action) bool {
		switch a.(type) {
		case CreatePod, DeletePod, PatchPod:
			return true
		}
		return false
	})
	s.pass, s.failedScale = Pass{}, why.Error()
	if !changed {
		s.roll()
	}
	s.finish()
	return s.pass
}

// findRevisions finds the revision of the template and the one that the status
// names, which is the same until there has been another (docs/kruise/workloads.md#revisions).
func (s *cloneSet) findRevisions() {
	hash := ""
	if len(s.Spec.VolumeClaimTemplates) > 0 {
		hash = hashOf(s.Spec.VolumeClaimTemplates)
	}
	var update cluster.Revision
	update, s.revisions = s.view.syncRevision(&s.pass, or(s.Status.CollisionCount, 0), hash)
	s.update, s.current = update.Name, update.Name
	for _, r := range s.revisions {
		if r.Name == s.Status.CurrentRevision {
			s.current = r.Name
		}
	}
}

// rolling is the rolling update strategy, an empty one when there is none.
func (s *cloneSet) rolling() kruise.RollingUpdateCloneSetStrategy {
	return or(s.Spec.UpdateStrategy.RollingUpdate, kruise.RollingUpdateCloneSetStrategy{})
}

// why sets what the pass says of itself, unless it has something to say.
func (s *cloneSet) why(text string) {
	if s.pass.Why == "" {
		s.pass.Why = text
	}
}

// forgetDeleted takes names out of podsToDelete that no pod has any more. That
// is a change of the spec, so the generation rises
// (docs/kruise/workloads.md#named-pods-and-claims).
func (s *cloneSet) forgetDeleted() {
	names := s.Spec.ScaleStrategy.PodsToDelete
	if len(names) == 0 {
		return
	}
	alive := make(map[string]bool, len(s.view.Pods))
	for _, p := range s.view.Pods {
		alive[p.Name] = alive[p.Name] || rules.Active(p)
	}
	var left []any
	for _, name := range names {
		if alive[name] {
			left = append(left, name)
		}
	}
	if len(left) == len(names) {
		return
	}
	var value any
	if len(left) > 0 {
		value = left
	}
	s.pass.act(PatchWorkload{Patch: map[string]any{"spec": map[string]any{"scaleStrategy": map[string]any{"podsToDelete": value}}}})
}

// event tells of something that was done to a pod.
func (s *cloneSet) event(reason, message string) {
	s.pass.act(Event{Type: "Normal", Reason: reason, Message: message})
}

// grace is how long a pod is out of service before its images change.
func (s *cloneSet) grace() int32 {
	if in := s.rolling().InPlaceUpdateStrategy; in != nil {
		return in.GracePeriodSeconds
	}
	return 0
}

// deadlineIn is after how long the condition Progressing would turn.
func deadlineIn(c *kruise.CloneSetCondition, deadline int32, now time.Time) time.Duration {
	return max(c.LastUpdateTime.Add(seconds(deadline)).Sub(now), 0) + time.Millisecond
}
