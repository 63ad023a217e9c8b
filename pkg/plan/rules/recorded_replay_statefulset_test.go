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

// replayStatefulSet is [replay] for an Advanced StatefulSet.
type replayStatefulSet struct {
	model
	step   conformance.RolloutStep
	set    *StatefulSet
	chosen map[string]bool
	acts   int
	errs   []string
}

// TestRecordedStatefulSetReplay: every act of every recorded patch was one that
// the rules allow at that moment.
func TestRecordedStatefulSetReplay(t *testing.T) {
	var sum tally
	acts := 0
	for _, s := range recordedSteps(t, "StatefulSet") {
		if !s.Patched() {
			sum.skip("no accepted patch")
			continue
		}
		r := &replayStatefulSet{step: s, set: recordedStatefulSet(t, s, s.Before), chosen: map[string]bool{}}
		r.model = model{pods: r.set.Pods, labels: r.set.Spec.Template.Labels}
		r.set.Busy = nil
		r.run()
		acts += r.acts
		if len(r.errs) > 0 {
			sum.failed++
			t.Errorf("%s step %d:\n  %s", s.Case, s.Number, strings.Join(r.errs, "\n  "))
			continue
		}
		sum.agreed++
	}
	sum.report(t, fmt.Sprintf("StatefulSet, act by act (%d acts)", acts))
}

func (r *replayStatefulSet) run() {
	for _, op := range r.step.Trace.Trace {
		at := r.step.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		r.set.Now = at.Add(time.Second)
		r.ask(op)
		r.apply(op, at.Truncate(time.Second))
		r.set.Pods = r.pods
	}
}

func (r *replayStatefulSet) ask(op conformance.RolloutOp) {
	switch {
	case op.Op == "create":
		r.acts++
		update := cluster.Hash(fmt.Sprint(op.Revision)) == cluster.Hash(r.set.Update)
		want := Created{OrdinalOf(&cluster.Pod{Name: op.Pod}), update}
		scale := r.set.Scale()
		made := slices.ContainsFunc(scale.Create, func(c Created) bool {
			return c.Ordinal == want.Ordinal && (c.Update == update || r.set.Current == r.set.Update)
		})
		r.check(op, made, fmt.Sprintf("creates %+v, %s", scale.Create, scale.Why))
	case op.Op == "lifecycle":
		r.check(op, r.moves(op, r.set.Spec.Lifecycle, Refresh{AtUpdate: r.set.updated(r.pod(op.UID))}), "lifecycle")
	case op.Op == "delete", op.Op == "inPlaceUpdate", op.Op == "markNotReady" && op.Reason == "StartInPlaceUpdate":
		if r.chosen[op.UID] {
			return
		}
		r.acts++
		r.chosen[op.UID] = op.Op == "markNotReady"
		scale, update := r.set.Scale(), r.set.ChooseUpdate()
		may := append(slices.Clone(scale.Remove), update.Delete...)
		if !scale.Stop {
			may = append(may, update.Pods...)
		}
		r.check(op, slices.Contains(uids(may), op.UID), fmt.Sprintf("may take %s: %s, %s", names(may), scale.Why, update.Why))
	}
}

func (r *replayStatefulSet) check(op conformance.RolloutOp, ok bool, why string) {
	if !ok {
		r.errs = append(r.errs, fmt.Sprintf("%.2f %s %s (%s): not now (%s)", op.T, op.Op, op.UID, op.Pod, why))
	}
}
