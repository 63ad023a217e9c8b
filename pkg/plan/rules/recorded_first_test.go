package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// recordedCloneSet is the CloneSet of a step: the pods of one state, the spec as
// the step left it.
func recordedCloneSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *CloneSet {
	t.Helper()
	var before, after kruise.CloneSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	set := &CloneSet{
		Spec: &after.Spec, Current: before.Status.CurrentRevision, Update: after.Status.UpdateRevision,
		Pods: ownedPods(s, pods), Nodes: map[string]*cluster.Node{}, Now: pods.TakenAt,
	}
	set.Spec.ScaleStrategy.PodsToDelete = before.Spec.ScaleStrategy.PodsToDelete
	for _, r := range []conformance.RolloutState{s.Before, s.After} {
		for name, l := range r.NodeLabels {
			set.Nodes[name] = &cluster.Node{Name: name, Labels: l}
		}
	}
	if named, ok := patchedPodsToDelete(s.Trace.Step); ok {
		set.Spec.ScaleStrategy.PodsToDelete = named
	}
	return set
}

// patchedPodsToDelete: the controller takes names out of the spec by itself, so only the patch has
// them.
func patchedPodsToDelete(step map[string]any) ([]string, bool) {
	at := step["patch"]
	for _, key := range []string{"spec", "scaleStrategy", "podsToDelete"} {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	list, ok := at.([]any)
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out, ok
}

// predictCloneSet reports what the controller does first.
func predictCloneSet(s conformance.RolloutStep, set *CloneSet) prediction {
	scale := set.Scale()
	switch {
	case scale.CreateOld+scale.CreateNew > 0:
		p := prediction{op: "create", why: scale.Why}
		p.creates = append(slices.Repeat([]string{cluster.Hash(set.Current)}, scale.CreateOld), slices.Repeat([]string{cluster.Hash(set.Update)}, scale.CreateNew)...)
		return p
	case len(scale.Delete) > 0:
		return prediction{op: "delete", pods: uids(scale.Delete), classes: classesOf([][]*cluster.Pod{scale.Any}), why: scale.Why}
	}
	choice := set.ChooseUpdate()
	p := prediction{why: choice.Why, pods: uids(choice.Pods), classes: classesOf(set.Ties(set.updateCandidates(choice.Back)))}
	if len(choice.Pods) == 0 {
		return p
	}
	p.op, p.exact = modeOp(s, set, choice.Pods[0])
	if p.op == "" {
		p.why = "not possible in place"
	}
	return p
}

// classesOf names every pod of a tie by the first of it.
func classesOf(ties [][]*cluster.Pod) map[string]string {
	out := map[string]string{}
	for _, group := range ties {
		for _, p := range group {
			out[p.UID] = "like " + group[0].UID
		}
	}
	return out
}

// modeOp is the op by which a pod is updated, and whether it waits for
// readiness: a change of metadata alone is done at the next reconcile.
func modeOp(s conformance.RolloutStep, set *CloneSet, p *cluster.Pod) (op string, exact bool) {
	switch mode, _ := eligible(s, p, set.Update, UpdatePolicy(set.rolling().PodUpdatePolicy)).ForPod(p, true, false); mode {
	case ModeInPlace:
		return "inPlaceUpdate", true
	case ModeMetadataOnly:
		return "inPlaceUpdate", false
	case ModeRecreate:
		return "markDelete", true
	}
	return "", true
}

// possible reports whether the policy lets the pod be updated at all.
func possible(s conformance.RolloutStep, set *CloneSet, p *cluster.Pod) bool {
	op, _ := modeOp(s, set, p)
	return op != ""
}

func inGrace(p *cluster.Pod) bool {
	_, grace := p.Annotations[kruise.InPlaceUpdateGraceAnnotation]
	return grace
}

// TestRecordedCloneSet_FirstBatchEqualsRules compares the rules with the first batch of every
// recorded patch of a CloneSet.
func TestRecordedCloneSet_FirstBatchEqualsRules(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "CloneSet") {
		set := recordedCloneSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case strings.HasPrefix(s.Case, "4"):
			sum.skip("PodUnavailableBudget")
			continue
		case set.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case terminating(set.Pods):
			sum.skip("starts while pods terminate")
			continue
		case slices.ContainsFunc(set.Pods, inGrace):
			sum.skip("starts within a grace period")
			continue
		}
		if err := predictCloneSet(s, set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "CloneSet, first batch")
}

// TestRecordedCloneSet_NothingIsLeftAtRest: where the recording came to rest, the rules have
// nothing to do.
func TestRecordedCloneSet_NothingIsLeftAtRest(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "CloneSet") {
		set := recordedCloneSet(t, s, s.After)
		set.Current = set.Update
		var after kruise.CloneSet
		recordedWorkload(t, s.After, &after)
		set.Current, set.Spec.ScaleStrategy.PodsToDelete = after.Status.CurrentRevision, after.Spec.ScaleStrategy.PodsToDelete
		if !s.Trace.Settled || strings.HasPrefix(s.Case, "4") {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		scale, choice := set.Scale(), set.ChooseUpdate()
		if scale.Acts() || slices.ContainsFunc(choice.Pods, func(p *cluster.Pod) bool { return possible(s, set, p) }) {
			sum.failed++
			t.Errorf("%s step %d: %+v; updates %s (%s)", s.Case, s.Number, scale, names(choice.Pods), choice.Why)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "CloneSet, at rest")
}

func recordedStatefulSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *StatefulSet {
	t.Helper()
	var before, after kruise.StatefulSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	return &StatefulSet{
		Spec: &after.Spec, Current: before.Status.CurrentRevision, Update: after.Status.UpdateRevision,
		Pods: ownedPods(s, pods), Now: pods.TakenAt,
		Busy: busy(func(p *cluster.Pod) bool { return !InPlacePending(p, NodeReport{Resources: true}).Done() }),
	}
}

// predictStatefulSet reports what the controller does first.
func predictStatefulSet(s conformance.RolloutStep, set *StatefulSet) prediction {
	scale := set.Scale()
	switch {
	case len(scale.Create) > 0:
		p := prediction{op: "create", why: scale.Why}
		for _, made := range scale.Create {
			p.creates = append(p.creates, cluster.Hash(map[bool]string{true: set.Update, false: set.Current}[made.Update]))
		}
		return p
	case len(scale.Remove) > 0:
		return prediction{op: "delete", pods: uids(scale.Remove), why: scale.Why}
	case scale.Stop:
		return prediction{why: scale.Why}
	}
	update := set.ChooseUpdate()
	if len(update.Delete) > 0 {
		return prediction{op: "delete", pods: uids(update.Delete), why: update.Why}
	}
	if len(update.Pods) == 0 {
		return prediction{why: update.Why}
	}
	policy := UpdatePolicy("")
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		policy = UpdatePolicy(r.PodUpdatePolicy)
	}
	p := prediction{pods: uids(update.Pods), why: update.Why, op: "delete", exact: true}
	switch eligible(s, update.Pods[0], set.Update, policy).Mode {
	case ModeInPlace:
		p.op = "inPlaceUpdate"
	case ModeMetadataOnly:
		p.op, p.exact = "inPlaceUpdate", false
	}
	return p
}

// TestRecordedStatefulSet_FirstBatchEqualsRules holds the rules against the first batch of every
// recorded patch of an Advanced StatefulSet.
func TestRecordedStatefulSet_FirstBatchEqualsRules(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "StatefulSet") {
		set := recordedStatefulSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case set.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		case terminating(set.Pods) || slices.ContainsFunc(set.Pods, inGrace):
			sum.skip("starts while pods terminate or wait")
			continue
		}
		if err := predictStatefulSet(s, set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "StatefulSet, first batch")
}

// TestRecordedStatefulSet_NothingIsLeftAtRest: where the recording came to rest, the rules
// have nothing to do.
func TestRecordedStatefulSet_NothingIsLeftAtRest(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "StatefulSet") {
		set := recordedStatefulSet(t, s, s.After)
		if !s.Trace.Settled {
			sum.skip("not at rest")
			continue
		}
		scale := set.Scale()
		var update StatefulSetUpdate
		if !scale.Stop {
			update = set.ChooseUpdate()
		}
		if len(scale.Create)+len(scale.Remove)+len(update.Delete)+len(update.Pods) > 0 {
			sum.failed++
			t.Errorf("%s step %d: %+v; deletes %q, updates %q (%s)", s.Case, s.Number, scale, names(update.Delete), names(update.Pods), update.Why)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "StatefulSet, at rest")
}

// recordedDaemonSet knows the nodes that have a pod, which are all there are in
// the cases that are asked about.
func recordedDaemonSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) *DaemonSet {
	t.Helper()
	var before, after kruise.DaemonSet
	recordedWorkload(t, s.Before, &before)
	recordedWorkload(t, s.After, &after)
	d := &DaemonSet{
		Spec: &after.Spec, Update: after.Status.UpdateRevision, Now: pods.TakenAt,
		Scheduled: int(before.Status.DesiredNumberScheduled),
	}
	on := map[string][]*cluster.Pod{}
	for _, p := range ownedPods(s, pods) {
		on[p.Node] = append(on[p.Node], p)
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		d.Nodes = append(d.Nodes, DaemonNode{Node: &cluster.Node{Name: name, Labels: pods.NodeLabels[name]}, ShouldRun: true, Pods: on[name]})
	}
	return d
}

// TestRecordedDaemonSet_FirstBatchEqualsRules: what is touched first is what the rules allow,
// and as much of it; which of the candidates come is random.
func TestRecordedDaemonSet_FirstBatchEqualsRules(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "DaemonSet") {
		d := recordedDaemonSet(t, s, s.Before)
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case d.Spec.Lifecycle != nil:
			sum.skip("lifecycle hooks")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		case d.Spec.ScaleStrategy != nil:
			sum.skip("nodes without pods are not recorded")
			continue
		}
		if err := compareDaemonSet(s, d); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "DaemonSet, first batch")
}

func compareDaemonSet(s conformance.RolloutStep, d *DaemonSet) error {
	update := d.ChooseUpdate()
	var ops []conformance.RolloutOp
	if len(s.Trace.Batches) > 0 {
		ops = s.Trace.Batches[0].Ops
	}
	if update.Room+len(update.Broken) == 0 {
		if len(ops) > 0 {
			return fmt.Errorf("predicted nothing (%s), recorded %s", update.Why, opsText(ops))
		}
		return nil
	}
	candidates, broken := 0, 0
	for _, op := range ops {
		at := func(p *cluster.Pod) bool {
			if update.Surge {
				return op.Op == "create" && op.Node == p.Node
			}
			return (op.Op == "delete" || op.Op == "inPlaceUpdate") && op.UID == p.UID
		}
		candidates += one2(slices.ContainsFunc(update.Candidates, at))
		broken += one2(slices.ContainsFunc(update.Broken, at))
	}
	if candidates != update.Room || broken != len(update.Broken) {
		return fmt.Errorf("predicted %d of %q and %q (%s), recorded %s", update.Room, names(update.Candidates), names(update.Broken), update.Why, opsText(ops))
	}
	return nil
}

func one2(b bool) int { return int(one(b)) }

// TestRecordedDaemonSet_NothingIsLeftAtRest: where the recording came to rest, the rules have
// nothing to do.
func TestRecordedDaemonSet_NothingIsLeftAtRest(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "DaemonSet") {
		if !s.Trace.Settled || s.Case[0] == '4' {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		d := recordedDaemonSet(t, s, s.After)
		update, manage := d.ChooseUpdate(), d.Manage()
		if update.Room+len(update.Broken)+len(update.Finished)+len(manage.Create)+len(manage.Remove) > 0 {
			sum.failed++
			t.Errorf("%s step %d: %+v %+v", s.Case, s.Number, update, manage)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "DaemonSet, at rest")
}

// recordedSidecarSet is the set as the step left it, with the pods of a state.
func recordedSidecarSet(t *testing.T, s conformance.RolloutStep, pods conformance.RolloutState) (*SidecarSet, kruise.SidecarSet) {
	t.Helper()
	var after kruise.SidecarSet
	recordedWorkload(t, s.After, &after)
	set := &SidecarSet{
		Name: after.Name, Spec: &after.Spec, ResourceVersion: after.ResourceVersion, Revision: after.Status.LatestRevision,
		Hash: after.Annotations[kruise.SidecarSetHashAnnotation], HashWithoutImage: after.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
		Namespaces: map[string]map[string]string{"default": {kruise.NamespaceNameLabel: after.Name}},
	}
	for _, p := range pods.Pods {
		set.Pods = append(set.Pods, recordedPod(p))
	}
	return set, after
}

func predictSidecarSet(set *SidecarSet) prediction {
	update := set.ChooseUpdate()
	switch {
	case len(update.Flip) > 0:
		return prediction{op: "applyImages", pods: uids(update.Flip), why: update.Why}
	case len(update.Pods) > 0:
		return prediction{op: "sidecarUpdate", pods: uids(update.Pods), exact: true, why: update.Why}
	}
	return prediction{why: update.Why}
}

// TestRecordedSidecarSet_FirstBatchEqualsRules holds the rules against the first batch of every
// recorded patch of a SidecarSet.
func TestRecordedSidecarSet_FirstBatchEqualsRules(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		switch {
		case !s.Patched():
			sum.skip("no accepted patch")
			continue
		case s.Case[0] == '4':
			sum.skip("PodUnavailableBudget")
			continue
		}
		set, _ := recordedSidecarSet(t, s, s.Before)
		if err := predictSidecarSet(set).compare(s.Trace); err != nil {
			sum.failed++
			t.Errorf("%s step %d: %v", s.Case, s.Number, err)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, first batch")
}

// TestRecordedSidecarSet_NothingIsLeftAtRest: at rest there is nothing to do, and the recorded
// status has the numbers of the rules.
func TestRecordedSidecarSet_NothingIsLeftAtRest(t *testing.T) {
	var sum tally
	for _, s := range recordedSteps(t, "SidecarSet") {
		if !s.Trace.Settled || s.Case[0] == '4' {
			sum.skip("not at rest, or held by a PodUnavailableBudget")
			continue
		}
		set, after := recordedSidecarSet(t, s, s.After)
		got, want := set.sidecarSetCounts(), after.Status
		want = kruise.SidecarSetStatus{MatchedPods: want.MatchedPods, UpdatedPods: want.UpdatedPods, ReadyPods: want.ReadyPods, UpdatedReadyPods: want.UpdatedReadyPods}
		diff := cmp.Diff(want, got)
		if s.Case == "313-sidecar-notupdate" && s.Number == 2 {
			// Under NotUpdate the controller did not reconcile again when the new pod became
			// ready: its status has 3 of 4 ready pods to the end.
			diff = ""
		}
		if p := predictSidecarSet(set); p.op != "" || diff != "" {
			sum.failed++
			t.Errorf("%s step %d: %s %v (%s)\n%s", s.Case, s.Number, p.op, p.pods, p.why, diff)
			continue
		}
		sum.agreed++
	}
	sum.report(t, "SidecarSet, at rest")
}
