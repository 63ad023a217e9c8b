package sequence

import (
	"fmt"
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

// rollout is one workload on its way.
type rollout struct {
	*maker
	// was is the old object, or the one of the context; next the new one.
	was, next *resource.Resource
	known     patches.Known
	warnings  []string
	at        time.Time
}

// sequence writes down how was becomes next.
func (m *maker) sequence(was, next *resource.Resource) (patches.Sequence, error) {
	w := &rollout{maker: m, was: was, next: next, known: patches.Known{Count: true}}
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
func (w *rollout) present() {
	live := w.live[w.id(w.next)]
	if live == nil {
		return
	}
	if !tree.Equal(tree.Get(live.Node(), "spec", "template"), tree.Get(w.was.Node(), "spec", "template")) {
		w.warnings = append(w.warnings, "the object of the context has another template than --base: the steps begin with the former")
	}
	w.was = live
}

// steps asks the plan, and writes it down.
func (w *rollout) steps() (patches.Sequence, error) {
	w.assume()
	snap, err := w.snapshot()
	if err != nil {
		return patches.Sequence{}, err
	}
	p, err := w.build(&snap)
	if err != nil {
		return patches.Sequence{}, err
	}
	if p.Driver == plan.DriverClient && w.known.Pods && len(p.Steps) > 0 {
		q, err := patches.ByPod(&p, snap, w.assumed(snap))
		return q, w.refused(err)
	}
	if snap.Pods != nil && len(p.Steps) > 0 {
		if err := simulate.Check(p, snap, w.assumed(snap)); err != nil {
			return patches.Sequence{}, w.refused(err)
		}
	}
	return patches.FromPlan(&p, w.known), nil
}

func (w *rollout) refused(err error) error {
	if err == nil {
		return nil
	}
	return w.next.Wrap(&tree.Error{Path: "spec", Msg: err.Error(), Hint: "kubectl kruise simulate -f NEW --against OLD shows how far it comes"}, "")
}

func (w *rollout) assumed(s plan.Snapshot) simulate.Options {
	o := simulate.Usual()
	o.Gates, o.Start = s.Gates, w.at
	o.GuardUpdates, o.ReadinessGate = w.Gates.GuardUpdates, w.Gates.ReadinessGate
	return o
}

// build asks the decision core.
func (w *rollout) build(snap *plan.Snapshot) (plan.Plan, error) {
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
	p, err := plan.Build(desired, *snap, policy)
	return p, w.next.Wrap(err, "")
}

// policy is the workload's own, under the flags. Whoever sends patches by hand has
// no use for a step that only pulls images, unless it was asked for.
func (w *rollout) policy(desired *cluster.Workload) (plan.Policy, error) {
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

// shares are steps for a number of pods that nobody knows: percentages, which every
// partition takes but that of StatefulSets, whose pods then change in one step.
func (w *rollout) shares(desired *cluster.Workload, steps []plan.PolicyStep) []plan.PolicyStep {
	if desired.Kind == kruise.KindStatefulSet {
		w.warn("how many pods there are is up to an autoscaler, and the partition is a number of pods: they all change in one step")
		return []plan.PolicyStep{{To: plan.All}}
	}
	if len(steps) == 0 {
		return []plan.PolicyStep{{To: share(10)}, {To: share(50)}, {To: plan.All}}
	}
	out := append([]plan.PolicyStep(nil), steps...)
	for i, s := range steps {
		if !s.To.Percent {
			out[i].To = share(min(s.To.Value, 100))
			w.warn("how many pods there are is not known: the step to %s pods is taken as %s", s.To, out[i].To)
		}
	}
	return out
}

func share(percent float64) plan.Amount { return plan.Amount{Value: percent, Percent: true} }

func (w *rollout) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}

// carry has the Kruise workload that a native one stands for in the snapshot: the
// driver client keeps its rules. It is the one of the new state, as the annotation
// that holds it is written first.
func (w *rollout) carry(snap *plan.Snapshot) error {
	kind, name := sourceOf(w.next)
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

// sourceOf reads the label that rendering leaves; kind is empty for what was no
// Kruise workload with a native twin.
func sourceOf(r *resource.Resource) (kind, name string) {
	written, name, _ := strings.Cut(r.Labels()[kruise.SourceLabel], ".")
	for _, k := range []string{kruise.KindCloneSet, kruise.KindStatefulSet, kruise.KindDaemonSet} {
		if strings.ToLower(k) == written && r.Annotation(kruise.StrategyAnnotation) != "" {
			return k, name
		}
	}
	return "", ""
}
