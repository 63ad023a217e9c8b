package plan

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type daemonSetKind struct {
	kruiseKind
	o *kruise.DaemonSet
}

func (kinds) DaemonSet(o *kruise.DaemonSet) kind {
	return daemonSetKind{kruiseKind{anyKind{o}}, o}
}

func (k daemonSetKind) subject(b *comparison) subject {
	return b.daemonSet(&k.o.Spec, scheduledOf(b.present.Object))
}

// daemonSet reads an Advanced DaemonSet (docs/kruise/workloads.md#advanced-daemonset). scheduled is
// its status.desiredNumberScheduled.
func (b *comparison) daemonSet(spec *kruise.DaemonSetSpec, scheduled int) subject {
	set := daemonSetRules(b.snap, spec, b.updateRevision(), scheduled)
	l := set.Limits()
	s := subject{
		total: set.Scheduled, updated: b.updatedPods(),
		limits: Limits{set.Scheduled, l.MaxUnavailable, l.MaxSurge, seconds(spec.MinReadySeconds)},
	}
	if _, ok := cluster.Of(&kruise.DaemonSet{Spec: *spec}).Partition(); ok {
		s.partition = daemonSetPartition(set.Scheduled)
	}
	order := daemonPods(set)
	if n := set.Selected(); n >= 0 {
		b.warning("the selector of the strategy matches %s: pods on other nodes keep the old template", counted.Of(n, "node"))
		s.total = min(s.total, n)
	}
	if spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		s.order = b.outdatedInOrder(order, true, "its node is eligible; which comes first is random")
	}
	return s
}

// daemonSetPartition is the partition of a DaemonSet with so many nodes.
type daemonSetPartition int

func (all daemonSetPartition) allowed(v intstr.IntOrString) int {
	return max(int(all)-rules.DaemonSetPartition(&v, int(all)), 0)
}

// daemonSetRules is a DaemonSet as the rules see it: nodes are those that have a
// pod, and all of them count; so do the others in the status, whose pods are gone or
// not back yet.
func daemonSetRules(s Snapshot, spec *kruise.DaemonSetSpec, update string, scheduled int) *rules.DaemonSet {
	on := map[string][]*cluster.Pod{}
	for _, p := range s.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	set := &rules.DaemonSet{Spec: spec, Update: update, Scheduled: scheduled}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		n := s.Nodes[name]
		if n == nil {
			n = &cluster.Node{Name: name}
		}
		set.Nodes = append(set.Nodes, rules.DaemonNode{Node: n, ShouldRun: true, Stay: true, Pods: on[name]})
	}
	if set.Scheduled <= 0 {
		set.Scheduled = len(set.Nodes)
	}
	set.Missing = max(set.Scheduled-len(set.Nodes), 0)
	return set
}

// scheduledOf is status.desiredNumberScheduled.
func scheduledOf(obj any) int {
	n, _ := cluster.Of(obj).Scheduled()
	return n
}

// daemonPods are the pods in the order in which a falling partition reaches their
// nodes.
func daemonPods(set *rules.DaemonSet) []*cluster.Pod {
	whole := *set
	spec := *set.Spec
	if spec.UpdateStrategy.RollingUpdate != nil {
		spec.UpdateStrategy.RollingUpdate = copyOrNew(spec.UpdateStrategy.RollingUpdate)
		spec.UpdateStrategy.RollingUpdate.Partition = nil
	}
	whole.Spec = &spec
	var out []*cluster.Pod
	for _, node := range whole.Eligible() {
		out = append(out, node.Pods...)
	}
	return out
}

func (k daemonSetKind) restartSpec(any) kruiseSpec { return daemonSetSpec{&k.o.Spec} }

func (k daemonSetKind) choice(b *comparison, now time.Time, _ bool) rules.Choice {
	return b.daemonChoice(&k.o.Spec, now)
}

// daemonChoice is a choice whose order is random within each of its parts.
func (b *comparison) daemonChoice(spec *kruise.DaemonSetSpec, now time.Time) rules.Choice {
	set := daemonSetRules(b.snap, spec, b.updateRevision(), scheduledOf(b.present.Object))
	set.Now = now
	u := set.ChooseUpdate()
	order := append(append([]*cluster.Pod{}, u.Broken...), u.Candidates...)
	return rules.Choice{Pods: order[:len(u.Broken)+u.Room], Order: order, Why: u.Why}
}

func (k daemonSetKind) stepPending(r *rollout) rules.Pending {
	return rules.DaemonSetStepPending(k.o, k.selected(r))
}

func (k daemonSetKind) rolloutPending(r *rollout) rules.Pending {
	if k.selected(r) >= 0 {
		return nil // nodes that the selector leaves out stay old
	}
	return rules.DaemonSetPending(k.o)
}

// selected is how many nodes the strategy chooses, -1 for all.
func (k daemonSetKind) selected(r *rollout) int {
	if ru := k.o.Spec.UpdateStrategy.RollingUpdate; ru == nil || ru.Selector == nil {
		return -1
	}
	return daemonSetRules(*r.snap, &k.o.Spec, k.o.Status.UpdateRevision, scheduledOf(k.o)).Selected()
}

func (k daemonSetKind) stop(*rollout) (StopField, string) { return stopByPause(k.o) }

func (k daemonSetKind) surges() bool {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.MaxSurge != nil && r.MaxSurge.String() != "0" && r.MaxSurge.String() != "0%"
}

func (k daemonSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return setFields("selector", r.Selector != nil, "", false)
}

// daemonSetSpec has the client keep the rules of an Advanced DaemonSet. The client
// has no hooks and no grace period of it.
type daemonSetSpec struct{ *kruise.DaemonSetSpec }

func (s daemonSetSpec) subject(b *comparison) subject {
	return b.daemonSet(s.DaemonSetSpec, scheduledOf(b.present.Object))
}

func (daemonSetSpec) inPlace() *kruise.InPlaceUpdateStrategy { return nil }
func (daemonSetSpec) lifecycle() *kruise.Lifecycle           { return nil }

func (s daemonSetSpec) updateOrder(b *comparison) []*cluster.Pod {
	return daemonPods(daemonSetRules(b.snap, s.DaemonSetSpec, unstoredRevision, scheduledOf(b.present.Object)))
}

// nextPods has a fixed order: pods that are out of service already come
// first, the others in the order of the eligible nodes.
func (s daemonSetSpec) nextPods(c *client) ([]*cluster.Pod, string) {
	spec := *s.DaemonSetSpec
	set := daemonSetRules(*c.withRestarts, &spec, c.revision, scheduledOf(c.object().Object))
	kept := intstr.FromInt32(int32(max(set.Scheduled-c.step.Updated, 0)))
	rolling := copyOrNew(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	set.Now = c.now
	choice := set.ChooseUpdate()
	picked := slices.Concat(choice.Broken, preparedPods(choice.Candidates))
	for _, p := range choice.Candidates {
		if len(picked)-len(choice.Broken) < choice.Room && rules.StateOf(p) != rules.StatePreparingUpdate {
			picked = append(picked, p)
		}
	}
	if len(picked) == len(choice.Broken)+len(choice.Candidates) {
		return picked, ""
	}
	return picked, choice.Why
}

func (daemonSetSpec) countedPods(r *rollout, _ int) []*cluster.Pod { return r.snap.Pods }

type nativeDaemonSetKind struct {
	anyKind
	o *appsv1.DaemonSet
}

func (kinds) NativeDaemonSet(o *appsv1.DaemonSet) kind {
	return nativeDaemonSetKind{anyKind{o}, o}
}

func (k nativeDaemonSetKind) drivers() []Driver {
	if k.o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return []Driver{DriverClient, DriverNative}
	}
	return []Driver{DriverNative}
}

// subject reads a DaemonSet of Kubernetes, which has no partition.
func (k nativeDaemonSetKind) subject(b *comparison) subject {
	s := b.daemonSet(rules.AsDaemonSetSpec(&k.o.Spec), scheduledOf(b.present.Object))
	s.partition = nil
	return s
}

func (k nativeDaemonSetKind) clientSpec(sourceObject any) kruiseSpec {
	out := *rules.AsDaemonSetSpec(&k.o.Spec)
	if d, ok := sourceObject.(*kruise.DaemonSet); ok {
		out = d.Spec
	}
	out.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	r := copyOrNew(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.Paused, r.MaxSurge = nil, nil, nil
	out.UpdateStrategy.RollingUpdate = r
	return daemonSetSpec{&out}
}

func (k nativeDaemonSetKind) restartSpec(sourceObject any) kruiseSpec {
	return k.clientSpec(sourceObject)
}

func (k nativeDaemonSetKind) revision(r *rollout) string {
	if !rules.Observed(k.o) {
		return ""
	}
	return cluster.Hash(revisionNamed(r.snap.Revisions, r.object().Template))
}

func (k nativeDaemonSetKind) choice(b *comparison, now time.Time, _ bool) rules.Choice {
	return b.daemonChoice(rules.AsDaemonSetSpec(&k.o.Spec), now)
}

func (k nativeDaemonSetKind) stepPending(*rollout) rules.Pending {
	return rules.NativeDaemonSetPending(k.o)
}

func (nativeDaemonSetKind) stop(*rollout) (StopField, string) { return StopStrategy, onDelete }
