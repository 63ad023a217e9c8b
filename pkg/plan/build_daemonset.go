package plan

import (
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonSet reads an Advanced DaemonSet (docs/kruise/workloads.md#advanced-daemonset). scheduled is
// its status.desiredNumberScheduled.
func (b *builder) daemonSet(spec *kruise.DaemonSetSpec, scheduled int) subject {
	set := daemonSetRules(b.snap, spec, b.updateRevision(), scheduled)
	l := set.Limits()
	s := subject{
		total: set.Scheduled, updated: b.already(),
		limits: Limits{set.Scheduled, l.MaxUnavailable, l.MaxSurge, time.Duration(spec.MinReadySeconds) * time.Second},
	}
	if _, ok := partitionOf(&kruise.DaemonSet{Spec: *spec}); ok {
		all := set.Scheduled
		s.allowed = func(v intstr.IntOrString) int { return max(all-rules.DaemonSetPartition(&v, all), 0) }
		s.partition = inverse(all, s.allowed)
	}
	order := daemonPods(set)
	if n := set.Selected(); n >= 0 {
		b.warning("the selector of the strategy matches %s: pods on other nodes keep the old template", plural(n, "node"))
		s.total = min(s.total, n)
	}
	if spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		s.take = b.takesAny(newLine(order, b.outdated), "its node is eligible; which comes first is random")
	}
	return s
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

// daemonPods are the pods in the order in which a falling partition reaches their
// nodes.
func daemonPods(set *rules.DaemonSet) []*cluster.Pod {
	whole := *set
	spec := *set.Spec
	if spec.UpdateStrategy.RollingUpdate != nil {
		spec.UpdateStrategy.RollingUpdate = copied(spec.UpdateStrategy.RollingUpdate)
		spec.UpdateStrategy.RollingUpdate.Partition = nil
	}
	whole.Spec = &spec
	var out []*cluster.Pod
	for _, node := range whole.Eligible() {
		out = append(out, node.Pods...)
	}
	return out
}

// takesAny is for an order that is random inside each step: its pods are one tie.
func (b *builder) takesAny(l *line, why string) func(int) []PodStep {
	tie := 0
	return func(n int) []PodStep {
		taken := l.Take(n)
		tie++
		group := map[*cluster.Pod]int{}
		if len(taken) > 1 {
			for _, p := range taken {
				group[p] = tie
			}
		}
		return b.podSteps(taken, group, func(*cluster.Pod) string { return why })
	}
}

// nativeDaemonSet reads a DaemonSet of Kubernetes, which has no partition.
func (b *builder) nativeDaemonSet(o *appsv1.DaemonSet) subject {
	s := b.daemonSet(rules.AsDaemonSetSpec(&o.Spec), scheduledOf(b.present.Object))
	s.partition, s.allowed = nil, nil
	return s
}

// scheduledOf is status.desiredNumberScheduled.
func scheduledOf(obj any) int {
	n, _ := cluster.Of(obj).Scheduled()
	return n
}
