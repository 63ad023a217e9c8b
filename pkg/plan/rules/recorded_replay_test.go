package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// replay walks a recorded step op by op and asks before every act of the
// controller whether the rules would do it then.
type replay struct {
	step conformance.RolloutStep
	set  *CloneSet
	// chosen are the pods whose update began.
	chosen map[string]bool
	// series is what a running series of creations or deletions was decided on
	// at its start; it ends when a pod becomes ready.
	series *CloneSetScale
	acts    int
	errs    []string
}

// TestRecordedCloneSetReplay: every creation, deletion and update of every
// recorded patch was one that the rules allow at that moment.
func TestRecordedCloneSetReplay(t *testing.T) {
	var sum tally
	acts := 0
	for _, s := range recordedSteps(t, "CloneSet") {
		if !s.Patched() {
			sum.skip("no accepted patch")
			continue
		}
		r := &replay{step: s, set: recordedCloneSet(t, s, s.Before), chosen: map[string]bool{}}
		r.run()
		acts += r.acts
		if len(r.errs) > 0 {
			sum.failed++
			t.Errorf("%s step %d:\n  %s", s.Case, s.Number, strings.Join(r.errs, "\n  "))
			continue
		}
		sum.agreed++
	}
	sum.report(t, fmt.Sprintf("CloneSet, act by act (%d acts)", acts))
}

func (r *replay) run() {
	for _, op := range r.step.Trace.Trace {
		at := r.step.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		r.set.Now = at.Add(time.Second)
		r.ask(op)
		r.apply(op, at.Truncate(time.Second))
		r.moveCurrent()
	}
}

// ask holds one op against the rules.
func (r *replay) ask(op conformance.RolloutOp) {
	switch {
	case op.Op == "create":
		r.acts++
		r.askCreate(op)
	case op.Op == "delete" || (op.Op == "lifecycle" && op.To == string(StatePreparingDelete)):
		r.acts++
		r.askDelete(op)
	case op.Op == "ready":
		r.series = nil
	case op.Op == "markNotReady" && op.Reason == "StartInPlaceUpdate",
		op.Op == "inPlaceUpdate", op.Op == "markDelete",
		op.Op == "lifecycle" && op.To == string(StatePreparingUpdate):
		if !r.chosen[op.UID] {
			r.acts++
			r.askUpdate(op)
		}
	}
}

// decided returns what the series was decided on, and what would be decided
// now. While a series goes on, the surge shrinks and nodes become less crowded,
// but the controller looks again only after it.
func (r *replay) decided(same func(CloneSetScale) bool) []*CloneSetScale {
	now := r.set.Scale()
	if r.series == nil || !same(*r.series) {
		r.series = &now
	}
	return []*CloneSetScale{r.series, &now}
}

func (r *replay) askCreate(op conformance.RolloutOp) {
	old := cluster.Hash(fmt.Sprint(op.Revision)) != cluster.Hash(r.set.Update)
	for _, s := range r.decided(func(s CloneSetScale) bool { return s.CreateOld+s.CreateNew > 0 }) {
		switch {
		case s.CreateOld > 0 && (old || r.set.settled()):
			s.CreateOld--
			return
		case s.CreateNew > 0 && !old:
			s.CreateNew--
			return
		}
	}
	r.check(op, false, r.series.Why)
}

func (r *replay) askDelete(op conformance.RolloutOp) {
	like := func(p *cluster.Pod) bool {
		return p.UID == op.UID || standingOf(p).compare(standingOf(r.pod(op.UID))) == 0
	}
	ok := false
	for _, s := range r.decided(func(s CloneSetScale) bool { return len(s.Delete) > 0 }) {
		ok = ok || slices.ContainsFunc(s.Delete, like) || (len(s.Delete) > 0 && slices.ContainsFunc(s.Any, like))
	}
	r.check(op, ok, r.series.Why)
}

func (r *replay) askUpdate(op conformance.RolloutOp) {
	choice := r.set.ChooseUpdate()
	classes := classesOf(r.set.Ties(r.set.UpdateCandidates(choice.Back)))
	like := func(p *cluster.Pod) bool {
		return p.UID == op.UID || (classes[p.UID] != "" && classes[p.UID] == classes[op.UID])
	}
	r.check(op, slices.ContainsFunc(choice.Pods, like), choice.Why)
	want, _ := modeOp(r.step, r.set, r.pod(op.UID))
	r.check(op, (want == "markDelete") == (op.Op == "markDelete"), "mode "+want)
	r.chosen[op.UID] = true
}

func (r *replay) check(op conformance.RolloutOp, ok bool, why string) {
	if !ok {
		r.errs = append(r.errs, fmt.Sprintf("%.2f %s %s: not now (%s)", op.T, op.Op, op.UID, why))
	}
}

func (r *replay) pod(uid string) *cluster.Pod {
	for _, p := range r.set.Pods {
		if p.UID == uid {
			return p
		}
	}
	return &cluster.Pod{UID: uid, Labels: map[string]string{}}
}

// apply changes the modelled pods as the op says.
func (r *replay) apply(op conformance.RolloutOp, at time.Time) {
	p := r.pod(op.UID)
	switch op.Op {
	case "create":
		r.set.Pods = append(r.set.Pods, createdPod(r.set, op, at))
	case "delete":
		p.Deleting = true
	case "gone":
		r.set.Pods = slices.DeleteFunc(r.set.Pods, func(p *cluster.Pod) bool { return p.UID == op.UID })
	case "markDelete":
		p.Labels[kruise.SpecifiedDeleteLabel] = "true"
	case "inPlaceUpdate":
		delete(r.chosen, op.UID)
		r.updateInPlace(p, op)
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

func (r *replay) updateInPlace(p *cluster.Pod, op conformance.RolloutOp) {
	if change, ok := op.Revision.(map[string]any); ok {
		p.Labels[revisionLabel] = fmt.Sprint(change["to"])
	}
	merge(p.Labels, op.Labels)
	if op.Grace {
		p.Annotations = map[string]string{kruise.InPlaceUpdateGraceAnnotation: "{}"}
	}
}

func createdPod(set *CloneSet, op conformance.RolloutOp, at time.Time) *cluster.Pod {
	p := &cluster.Pod{
		Name: op.Pod, UID: op.UID, Node: op.Node, Phase: corev1.PodPending, Created: at,
		Labels:     map[string]string{revisionLabel: fmt.Sprint(op.Revision)},
		Containers: []cluster.Container{{Name: "main"}},
	}
	for k, v := range set.Spec.Template.Labels {
		p.Labels[k] = v
	}
	setState(p, StatePreparingNormal)
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

// moveCurrent does what the status does when every pod is updated.
func (r *replay) moveCurrent() {
	active := r.set.active()
	r.set.Current = CloneSetCurrent(r.set.Current, r.set.Update, count(active, r.set.updated), len(active), number(r.set.Spec.Replicas, 1))
}
