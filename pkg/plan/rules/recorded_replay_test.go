package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// replay walks a recorded step op by op and asks before every act of the
// controller whether the rules would do it then.
type replay struct {
	model
	step conformance.RolloutStep
	set  *CloneSet
	// chosen are the pods whose update began.
	chosen map[string]bool
	// series is what a running series of creations or deletions was decided on
	// at its start; it ends when a pod becomes ready.
	series *CloneSetScale
	acts   int
	errs   []string
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
		r.model = model{r.set.Pods, r.set.Spec.Template.Labels, StatePreparingNormal}
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
		if op.Op == "lifecycle" {
			r.check(op, r.moves(op, r.set.Spec.Lifecycle, Refresh{WaitForNode: true, AtUpdate: r.set.updated(r.pod(op.UID))}) || r.undone(op), "lifecycle")
		}
		at := r.step.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		r.set.Now = at.Add(time.Second)
		r.ask(op)
		r.apply(op, at.Truncate(time.Second))
		r.set.Pods = r.pods
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
		if op.Op == "inPlaceUpdate" {
			delete(r.chosen, op.UID)
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

// undone reports whether a held deletion is taken back.
func (r *replay) undone(op conformance.RolloutOp) bool {
	return op.To == string(StatePreparingNormal) && slices.Contains(uids(r.set.Scale().Undo), op.UID)
}

func (r *replay) check(op conformance.RolloutOp, ok bool, why string) {
	if !ok {
		r.errs = append(r.errs, fmt.Sprintf("%.2f %s %s: not now (%s)", op.T, op.Op, op.UID, why))
	}
}

// moveCurrent does what the status does when every pod is updated.
func (r *replay) moveCurrent() {
	active := r.set.active()
	r.set.Current = CloneSetCurrent(r.set.Current, r.set.Update, count(active, r.set.updated), len(active), number(r.set.Spec.Replicas, 1))
}
