package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// workloadRollout is one workload on its way.
type workloadRollout struct {
	*patchMaker
	// was is the old object, or the one of the context; next the new one.
	was, next *resource.Resource
	known     patches.Known
	warnings  []string
	at        time.Time
}

// sequence writes down how was becomes next.
func (m *patchMaker) sequence(was, next *resource.Resource) (patches.Sequence, error) {
	w := &workloadRollout{patchMaker: m, was: was, next: next, known: patches.Known{Count: true}}
	w.present()
	q, err := w.steps()
	if err != nil {
		return q, err
	}
	q.Warnings = append(q.Warnings, w.warnings...)
	q.Warnings = append(q.Warnings, patches.Literals(q.Steps, was.Node(), next.Node())...)
	if first := patches.Metadata(q.Object, was.Node(), next.Node()); first != nil {
		if len(q.Steps) == 0 {
			q.What = []string{"only labels and annotations of the object change"}
		}
		q.Steps = append([]patches.Step{*first}, q.Steps...)
	}
	return q, nil
}

// present takes the object of the context for what is there.
func (w *workloadRollout) present() {
	live := w.live.Find(w.id(w.next))
	if live == nil {
		return
	}
	if !tree.Equal(tree.Get(live.Node(), "spec", "template"), tree.Get(w.was.Node(), "spec", "template")) {
		w.warnings = append(w.warnings, "the object of the context has another template than --against: the steps begin with the former")
	}
	w.was = live
}

// steps asks the plan, and writes it down.
func (w *workloadRollout) steps() (patches.Sequence, error) {
	w.assume()
	snap, err := w.snapshot()
	if err != nil {
		return patches.Sequence{}, err
	}
	p, err := w.build(&snap)
	unfinished, _ := errors.AsType[*simulate.UnfinishedError](err)
	if err != nil && unfinished == nil {
		return patches.Sequence{}, err
	}
	if p.Driver == plan.DriverClient && w.known.Pods && len(p.Steps) > 0 {
		q, err := patches.ByPod(&p, snap, w.assumed(snap))
		return q, w.withWorkload(err)
	}
	if unfinished != nil {
		return patches.Sequence{}, w.withWorkload(unfinished)
	}
	return patches.FromPlan(&p, w.known), nil
}

func (w *workloadRollout) withWorkload(err error) error {
	if err == nil {
		return nil
	}
	return w.next.Wrap(&tree.Error{Path: "spec", Msg: err.Error(), Hint: "'kubectl kruise simulate -f NEW --against OLD' shows how far it comes"}, "")
}

func (w *workloadRollout) assumed(s plan.Snapshot) simulate.Options {
	o := simulate.DefaultOptions()
	o.Gates, o.Start = s.Gates, w.at
	o.GuardUpdates, o.ReadinessGate = w.Gates.GuardUpdates, w.Gates.ReadinessGate
	return o
}

// build asks the decision core.
func (w *workloadRollout) build(snap *plan.Snapshot) (plan.Plan, error) {
	desired, err := cluster.ReadWorkload(w.next.Node())
	if err != nil {
		return plan.Plan{}, w.next.Wrap(err, "")
	}
	policy, err := w.policy(desired)
	if err != nil {
		return plan.Plan{}, err
	}
	if w.Driver == stage.Client {
		if err := w.carry(snap); err != nil {
			return plan.Plan{}, err
		}
	}
	if snap.Pods == nil {
		p, err := plan.Build(desired, *snap, policy)
		return p, w.next.Wrap(err, "")
	}
	p, _, err := simulate.Build(desired, *snap, policy, w.assumed(*snap))
	if _, unfinished := errors.AsType[*simulate.UnfinishedError](err); unfinished {
		return p, err
	}
	return p, w.next.Wrap(err, "")
}

// policy is the workload's own, under the flags. Who sends patches by hand has
// no use for a step that only pulls images, unless it was asked for.
func (w *workloadRollout) policy(desired *cluster.Workload) (plan.Policy, error) {
	policy, _, err := planfile.PolicyOf(desired)
	if err != nil {
		return policy, w.next.Wrap(err, "")
	}
	if len(w.Steps) > 0 {
		policy.Steps = w.Steps
	}
	if policy.Pull == plan.PullAuto {
		policy.Pull = plan.PullNever
	}
	if policy.Driver == "" && desired.Group != kruise.Group && w.Driver != stage.Client {
		policy.Driver = plan.DriverNative
	}
	if !w.known.Count {
		policy.Steps = w.shares(desired, policy.Steps)
	}
	return policy, nil
}

// shares are steps for an unknown number of pods: percentages, which every
// partition takes but that of StatefulSets, whose pods then change in one step.
func (w *workloadRollout) shares(desired *cluster.Workload, steps []plan.PolicyStep) []plan.PolicyStep {
	if desired.Kind == kruise.KindStatefulSet {
		w.warn("how many pods there are is up to an autoscaler, and the partition is a number of pods: they all change in one step")
		return []plan.PolicyStep{{To: plan.All}}
	}
	if len(steps) == 0 {
		return []plan.PolicyStep{{To: percentAmount(10)}, {To: percentAmount(50)}, {To: plan.All}}
	}
	out := append([]plan.PolicyStep(nil), steps...)
	for i, s := range steps {
		if !s.To.Percent {
			out[i].To = percentAmount(min(s.To.Value, 100))
			w.warn("how many pods there are is not known: the step to %s pods is taken as %s", s.To, out[i].To)
		}
	}
	return out
}

func percentAmount(percent float64) plan.Amount { return plan.Amount{Value: percent, Percent: true} }

func (w *workloadRollout) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// carry puts the Kruise workload that a native one was rendered from into the snapshot: the
// driver client keeps its rules. It is the one of the new state, as the annotation
// that holds it is written first.
func (w *workloadRollout) carry(snap *plan.Snapshot) error {
	kind, name := sourceName(w.next)
	if kind == "" || snap.Workload.Group == kruise.Group {
		return nil
	}
	source, err := clusterread.ReadSource(w.next, kind, name)
	if err != nil {
		return err
	}
	snap.Workload, snap.Carrier = source, snap.Workload
	return nil
}

// sourceName reads the label that rendering leaves; kind is empty for what was no
// Kruise workload with a native twin.
func sourceName(r *resource.Resource) (kind, name string) {
	written, name, _ := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
	for _, k := range []string{kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet} {
		if strings.ToLower(k) == written && r.Annotation(kruise.StrategyAnnotation) != "" {
			return k, name
		}
	}
	return "", ""
}

// maxWorkloads is how many pods are assumed where the number is unknown: with a hundred of
// them every percentage is a whole number.
const maxWorkloads = 100

// assume settles how many pods there are, on both sides.
func (w *workloadRollout) assume() {
	w.was, w.next = w.was.Copy(), w.next.Copy()
	before, after := tree.Get(w.was.Node(), "spec", "replicas"), tree.Get(w.next.Node(), "spec", "replicas")
	switch {
	case w.next.Kind() == kruise.KindSidecarSet:
		w.known.Count = false
		return
	case w.next.Kind() == kruise.KindDaemonSet:
		n, _ := tree.Int(tree.Get(w.was.Node(), "status", "desiredNumberScheduled"))
		w.known.Count = n > 0
		return
	case w.scaled[w.id(w.next)], before == nil && after == nil:
		w.known.Count = false
		w.setReplicas(w.was, maxWorkloads)
		w.setReplicas(w.next, maxWorkloads)
	case after == nil:
		tree.SetAt(w.next.Edit(), tree.Clone(before), "spec", "replicas")
	}
}

func (w *workloadRollout) setReplicas(r *resource.Resource, n int64) {
	tree.SetAt(r.Edit(), tree.Int64(n), "spec", "replicas")
}

// snapshot is what is known of the old state: with the pods of the context, or with
// pods made up, which the plan is tried on and no message mentions. Where even those
// would not come up it is the object alone.
func (w *workloadRollout) snapshot() (plan.Snapshot, error) {
	others := slices.Concat(w.others(w.Old), w.others(w.Context))
	if clusterread.HasPods(others) {
		s, err := w.recorded(others)
		if err != nil || len(s.Pods) > 0 {
			return s, err
		}
	}
	others = slices.DeleteFunc(others, func(r *resource.Resource) bool { return r.Is("", "Pod") })
	s, err := clusterread.Populate(w.was, w.around(others), simulate.Population{Pods: w.pods(), Gates: w.Gates.Gates, ReadinessGate: w.Gates.ReadinessGate})
	if err == nil {
		return s, nil
	}
	reason := err
	if fault, ok := errors.AsType[*resource.Error](err); ok {
		reason = fault.Err
	}
	w.warn("not simulated, so it may not be able to finish: %v", reason)
	read, err := cluster.ReadWorkload(w.was.Node())
	return plan.Snapshot{Workload: read, Gates: w.Gates.Gates}, w.was.Wrap(err, "")
}

// around leaves out what would carry the pods of a SidecarSet: how many there are
// in a cluster its manifests do not say.
func (w *workloadRollout) around(list []*resource.Resource) []*resource.Resource {
	if w.next.Kind() != kruise.KindSidecarSet {
		return list
	}
	return slices.DeleteFunc(list, func(r *resource.Resource) bool { return cluster.IsWorkload(r.Group(), r.Kind()) })
}

// pods is how many are made up; 0 is what the manifest says.
func (w *workloadRollout) pods() int {
	if !w.known.Count {
		return maxWorkloads
	}
	n, _ := tree.Int(tree.Get(w.was.Node(), "status", "desiredNumberScheduled"))
	return int(n)
}

// others are the objects of a list beside the workload itself.
func (w *workloadRollout) others(list []*resource.Resource) []*resource.Resource {
	own := w.id(w.next)
	return slices.DeleteFunc(slices.Clone(list), func(r *resource.Resource) bool { return w.id(r) == own })
}

// recorded is what the context holds.
func (w *workloadRollout) recorded(others []*resource.Resource) (plan.Snapshot, error) {
	for _, r := range []*resource.Resource{w.was, w.next} {
		if r.Namespace() == "" && r.Kind() != kruise.KindSidecarSet {
			tree.SetAt(r.Edit(), tree.String(w.updated.Namespace()), "metadata", "namespace")
		}
	}
	st, err := clusterread.ReadObjects(others)
	if err != nil {
		return plan.Snapshot{}, err
	}
	w.at = simulate.RecordedAt(st.Pods)
	given := w.identify(st.Pods)
	st.Objects = append(st.Objects, w.was.Node())
	ref := cluster.Ref{Group: w.was.Group(), Kind: w.was.Kind(), Namespace: w.was.Namespace(), Name: w.was.Name()}
	s, err := clusterread.Snapshot(st, ref, w.Gates.Gates, w.at)
	if err == nil && !given {
		bare := *s.Workload
		bare.UID = ""
		s.Workload = &bare
	}
	if err == nil && len(s.Pods) > 0 {
		w.known.Pods = true
		w.known.Count = w.known.Count || !w.scaled[w.id(w.next)]
	}
	return s, w.was.Wrap(err, "")
}

// identify gives the workload the uid that its pods know their owner by. It is
// false where none is known: nothing may be pinned to what a model makes up.
func (w *workloadRollout) identify(pods []*cluster.Pod) bool {
	if tree.StrAt(w.was.Node(), "metadata", "uid") != "" {
		return true
	}
	for _, p := range pods {
		if o := p.Owner; o.UID != "" && o.Kind == w.was.Kind() && o.Name == w.was.Name() && p.Namespace == w.was.Namespace() {
			tree.SetAt(w.was.Edit(), tree.String(o.UID), "metadata", "uid")
			return true
		}
	}
	return false
}
