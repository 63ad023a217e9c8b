package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// TestRecordedCloneSet_RulesAllowEveryAction: every creation, deletion and update of every
// recorded patch was one that the rules allow at that moment.
func TestRecordedCloneSet_RulesAllowEveryAction(t *testing.T) {
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
		return p.UID == op.UID || sortKeyOf(p).compare(sortKeyOf(r.pod(op.UID))) == 0
	}
	ok := false
	for _, s := range r.decided(func(s CloneSetScale) bool { return len(s.Delete) > 0 }) {
		ok = ok || slices.ContainsFunc(s.Delete, like) || (len(s.Delete) > 0 && slices.ContainsFunc(s.Any, like))
	}
	r.check(op, ok, r.series.Why)
}

func (r *replay) askUpdate(op conformance.RolloutOp) {
	choice := r.set.ChooseUpdate()
	classes := classesOf(r.set.Ties(r.set.updateCandidates(choice.Back)))
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

// replayStatefulSet is [replay] for an Advanced StatefulSet.
type replayStatefulSet struct {
	model
	step   conformance.RolloutStep
	set    *StatefulSet
	chosen map[string]bool
	acts   int
	errs   []string
}

// TestRecordedStatefulSet_RulesAllowEveryAction: every act of every recorded patch was one that
// the rules allow at that moment.
func TestRecordedStatefulSet_RulesAllowEveryAction(t *testing.T) {
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

// TestRecordedDaemonSet_RulesAllowEveryAction: every act of every recorded patch was one that
// the rules allow at that moment. Which candidate comes is random: any may, as
// long as there is room.
func TestRecordedDaemonSet_RulesAllowEveryAction(t *testing.T) {
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

// TestRecordedSidecarSet_RulesAllowEveryUpgrade: every upgrade of every recorded patch was one
// that the rules allow at that moment, with the images that the patch says.
func TestRecordedSidecarSet_RulesAllowEveryUpgrade(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		if !s.Patched() {
			sum.skip("no accepted patch")
			continue
		}
		set, _ := recordedSidecarSet(t, s, s.Before)
		if err := replaySidecarSet(s, set); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, act by act")
}

func replaySidecarSet(s conformance.RolloutStep, set *SidecarSet) error {
	m := model{pods: set.Pods}
	var pass []*cluster.Pod
	last := -1.0
	for _, op := range s.Trace.Trace {
		at := s.Before.TakenAt.Add(time.Duration(op.T * float64(time.Second)))
		if op.Op == "sidecarUpdate" {
			// One pass chooses once: an unready pod that it upgrades first does
			// not count against those after it (310).
			if op.T-last > passTime {
				pass = set.ChooseUpdate().Pods
			}
			last = op.T
			if err := askSidecar(set, &m, op, at, pass); err != nil {
				return fmt.Errorf("%.2f %s: %w", op.T, op.UID, err)
			}
		}
		m.apply(op, at.Truncate(time.Second))
		m.follow(op)
		set.Pods = m.pods
	}
	return nil
}

// passTime is how long the writes of one pass lie apart at most, in seconds.
const passTime = 0.2

// askSidecar holds one upgrade against the choice and the patch, and applies
// that patch.
func askSidecar(set *SidecarSet, m *model, op conformance.RolloutOp, at time.Time, pass []*cluster.Pod) error {
	p := m.pod(op.UID)
	choice := set.ChooseUpdate()
	if !slices.ContainsFunc(append(choice.Pods, pass...), func(c *cluster.Pod) bool {
		return sortKeyOf(c).compare(sortKeyOf(p)) == 0
	}) {
		return fmt.Errorf("not now: %v (%s)", uids(choice.Pods), choice.Why)
	}
	patch, err := set.Upgrade(p, at)
	if err != nil {
		return err
	}
	want := map[string]string{}
	for name, change := range op.Containers {
		want[name] = change["to"]
	}
	if diff := cmp.Diff(want, patch.Images); diff != "" {
		return fmt.Errorf("images: %s", diff)
	}
	maps.Copy(p.Annotations, patch.Annotations)
	for i := range p.Containers {
		if image, ok := patch.Images[p.Containers[i].Name]; ok {
			p.Containers[i].Image = image
		}
	}
	return nil
}

// follow does what the node does to containers.
func (m *model) follow(op conformance.RolloutOp) {
	p := m.pod(op.UID)
	for i := range p.Containers {
		c := &p.Containers[i]
		switch {
		case op.Op == "ready":
			c.Ready = true
		case op.Container != c.Name:
		case op.Op == "containerStopped", op.Op == "containerWaiting":
			c.Ready = false
		case op.Op == "containerStarted":
			c.StatusImage, c.ImageID = op.Image, "sha256:"+op.Image
			c.Ready = true
		}
	}
}
