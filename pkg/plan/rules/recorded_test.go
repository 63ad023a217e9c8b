package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// recorded are all steps, read once for all tests.
var recorded struct {
	sync.Once
	steps []conformance.RolloutStep
	err   error
}

// recordedSteps returns the recorded steps of one kind of workload.
func recordedSteps(t *testing.T, kind string) []conformance.RolloutStep {
	t.Helper()
	recorded.Do(func() {
		for _, c := range conformance.List(t, "rollout") {
			steps, err := conformance.RolloutSteps(c)
			recorded.steps, recorded.err = append(recorded.steps, steps...), errors.Join(recorded.err, err)
		}
	})
	if recorded.err != nil {
		t.Fatal(recorded.err)
	}
	var out []conformance.RolloutStep
	for _, s := range recorded.steps {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no step of a %s is recorded", kind)
	}
	return out
}

// recordedPod is a pod in our terms; its maps are its own, since replays change
// them.
func recordedPod(r conformance.RolloutPod) *cluster.Pod {
	p := &cluster.Pod{
		Name: r.Name, UID: r.UID, Labels: maps.Clone(r.Labels), Annotations: maps.Clone(r.Annotations), Finalizers: r.Finalizers,
		Created: r.CreationTimestamp, Deleting: r.DeletionTimestamp != nil, Node: r.Node,
		Phase: corev1.PodPhase(r.Phase), ReadinessGates: r.ReadinessGates,
	}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	for _, c := range r.Conditions {
		p.Conditions = append(p.Conditions, cluster.Condition{
			Type: c.Type, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime,
		})
	}
	for _, c := range r.Containers {
		p.Containers = append(p.Containers, cluster.Container{
			Name: c.Name, Image: c.Image, Reported: c.ImageID != "" || c.State != "", StatusImage: c.StatusImage,
			ImageID: c.ImageID, Restarts: c.RestartCount, Ready: c.Ready,
		})
	}
	return p
}

// ownedPods returns the pods of the workload under test.
func ownedPods(s conformance.RolloutStep, state conformance.RolloutState) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range state.Pods {
		if p.Owner == s.Object() {
			out = append(out, recordedPod(p))
		}
	}
	return out
}

// recordedWorkload decodes the workload of a state, which is in the version that
// the case was written in.
func recordedWorkload(t *testing.T, s conformance.RolloutState, into any) {
	t.Helper()
	if _, err := kruise.Decode(tree.FromValue(s.Workload), into); err != nil {
		t.Fatal(err)
	}
}

func recordedRevisions(s conformance.RolloutState) []cluster.Revision {
	var out []cluster.Revision
	for _, r := range s.Revisions {
		out = append(out, cluster.Revision{
			Name: r.Name, Number: r.Revision, Template: r.Template, ClaimsHash: r.Annotations[kruise.VolumeClaimTemplateHashAnnotation],
		})
	}
	return out
}

// prediction is what a controller does first according to the rules.
type prediction struct {
	// op is the acting op that comes first, empty for none.
	op string
	// pods are the uids it touches, in order; classes has each uid that may be exchanged for
	// another.
	pods    []string
	classes map[string]string
	// creates are the hashes of the revisions of created pods.
	creates []string
	// exact is false when more of the same may follow before a pod is ready.
	exact bool
	why   string
}

// compare holds a prediction against the first batch of a trace.
func (p prediction) compare(trace conformance.RolloutTrace) error {
	var ops []conformance.RolloutOp
	if len(trace.Batches) > 0 {
		ops = trace.Batches[0].Ops
	}
	if p.op == "" {
		if len(ops) > 0 {
			return fmt.Errorf("predicted nothing (%s), recorded %s", p.why, opsText(ops))
		}
		return nil
	}
	if len(ops) == 0 || ops[0].Op != p.op {
		return fmt.Errorf("predicted %s %v (%s), recorded %s", p.op, p.pods, p.why, opsText(ops))
	}
	if p.op == "create" {
		return p.compareCreated(trace, ops)
	}
	var got []string
	for _, op := range ops {
		if op.Op == p.op {
			got = append(got, op.UID)
		}
	}
	if !p.exact {
		got = got[:min(len(got), len(p.pods))]
	}
	if p.classed(got) != p.classed(p.pods) {
		return fmt.Errorf("predicted %s %v (%s), recorded %v", p.op, p.pods, p.why, got)
	}
	return nil
}

// classed writes uids as a sorted list in which ties look alike.
func (p prediction) classed(uids []string) string {
	out := slices.Clone(uids)
	for i, uid := range out {
		if c, ok := p.classes[uid]; ok {
			out[i] = c
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (p prediction) compareCreated(trace conformance.RolloutTrace, ops []conformance.RolloutOp) error {
	first := map[string]bool{}
	for _, op := range ops {
		if op.Op == "create" && len(first) < len(p.creates) {
			first[op.UID] = true
		}
	}
	var got []string
	for _, op := range trace.Trace {
		if op.Op == "create" && first[op.UID] {
			got = append(got, cluster.Hash(fmt.Sprint(op.Revision)))
		}
	}
	slices.Sort(got)
	slices.Sort(p.creates)
	if !slices.Equal(got, p.creates) {
		return fmt.Errorf("predicted pods of %v (%s), recorded %v", p.creates, p.why, got)
	}
	return nil
}

func opsText(ops []conformance.RolloutOp) string {
	out := make([]string, len(ops))
	for i, op := range ops {
		out[i] = op.Op + " " + op.UID
	}
	return strings.Join(out, ", ")
}

// eligible asks what the update of one pod is: from its own revision to the
// update's.
func eligible(s conformance.RolloutStep, p *cluster.Pod, update string, policy UpdatePolicy) Eligibility {
	change := TemplateChange{Policy: policy, Gates: cluster.DefaultGates()}
	for _, r := range recordedRevisions(s.After) {
		if AtRevision(p, r.Name) {
			change.Old = r
		}
		if cluster.Hash(r.Name) == cluster.Hash(update) {
			change.New = r
		}
	}
	return change.Eligible()
}

// terminating reports whether a step starts while pods are terminating; the state between two
// passes is not enough then.
func terminating(list []*cluster.Pod) bool {
	return slices.ContainsFunc(list, func(p *cluster.Pod) bool { return p.Deleting })
}

func uids(list []*cluster.Pod) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.UID
	}
	return out
}

// tally counts steps and reports them; skipped steps are named with a cause.
type tally struct {
	agreed, failed int
	skipped        map[string]int
}

func (c *tally) skip(cause string) {
	if c.skipped == nil {
		c.skipped = map[string]int{}
	}
	c.skipped[cause]++
}

func (c *tally) report(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d steps agree, %d do not; not asked: %v", what, c.agreed, c.failed, c.skipped)
	if c.agreed == 0 {
		t.Error("not one step was compared")
	}
}

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
