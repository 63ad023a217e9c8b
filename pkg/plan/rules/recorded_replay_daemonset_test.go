package rules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// TestRecordedDaemonSetReplay: every act of every recorded patch was one that
// the rules allow at that moment. Which candidate comes is random: any may, as
// long as there is room.
func TestRecordedDaemonSetReplay(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "DaemonSet") {
		d := recordedDaemonSet(t, s, s.Before)
		if !s.Patched() || d.Spec.ScaleStrategy != nil {
			sum.skip("no accepted patch, or nodes without pods are not recorded")
			continue
		}
		if err := replayDaemonSet(s, d); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "DaemonSet, act by act")
}

func replayDaemonSet(s conformance.RolloutStep, d *DaemonSet) error {
	m := model{labels: d.Spec.Template.Labels}
	for _, node := range d.Nodes {
		m.pods = append(m.pods, node.Pods...)
	}
	chosen := map[string]bool{}
	// One pass chooses once: broken pods that it replaces first do not count
	// against those after them (212, 216).
	var pass DaemonSetUpdate
	last := -1.0
	for _, op := range s.Trace.Trace {
		at := s.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		d.Now = at.Add(time.Second)
		if op.Op == "delete" && op.T-last > passTime {
			pass, last = d.ChooseUpdate(), op.T
		}
		if update := d.ChooseUpdate(); !chosen[op.UID] && !mayDaemonSet(d, op, update) && !mayDaemonSet(d, op, pass) {
			return fmt.Errorf("%.2f %s %s: not now: %d of %q, %q (%s)", op.T, op.Op, op.UID, update.Room, names(update.Candidates), names(update.Broken), update.Why)
		}
		if op.Op == "markNotReady" {
			chosen[op.UID] = true
		}
		m.apply(op, at.Truncate(time.Second))
		for i := range d.Nodes {
			name := d.Nodes[i].Name
			d.Nodes[i].Pods = filter(m.pods, func(p *cluster.Pod) bool { return p.Node == name })
		}
	}
	return nil
}

// mayDaemonSet asks the rules about one act; everything else is no act.
func mayDaemonSet(d *DaemonSet, op conformance.RolloutOp, update DaemonSetUpdate) bool {
	open := slices.Clone(update.Broken)
	if update.Room > 0 {
		open = append(open, update.Candidates...)
	}
	switch {
	case op.Op == "create":
		beside := update.Surge && slices.ContainsFunc(open, func(p *cluster.Pod) bool { return p.Node == op.Node })
		return beside || slices.Contains(d.Manage().Create, op.Node)
	case op.Op == "delete" && update.Surge:
		return slices.Contains(uids(update.Finished), op.UID)
	case op.Op == "delete", op.Op == "inPlaceUpdate", op.Op == "markNotReady" && op.Reason == "StartInPlaceUpdate":
		return slices.Contains(uids(open), op.UID)
	}
	return true
}
