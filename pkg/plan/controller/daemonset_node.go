package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonFit says which nodes a pod of a DaemonSet may be on.
type daemonFit struct {
	selector    labels.Selector
	affinity    *corev1.NodeSelector
	tolerations []corev1.Toleration
	name        string
}

func newDaemonFit(spec *corev1.PodSpec) daemonFit {
	f := daemonFit{selector: labels.SelectorFromSet(spec.NodeSelector), name: spec.NodeName, tolerations: slices.Concat(spec.Tolerations, daemonTolerations)}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		f.affinity = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return f
}

// daemonTolerations are what every daemon pod gets.
var daemonTolerations = []corev1.Toleration{
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
}

// on answers for one node: whether it shall have a pod, and whether one that is
// there stays. A taint NoSchedule keeps new pods away only.
func (f *daemonFit) on(n *cluster.Node) (run, stay bool) {
	if f.name != "" && f.name != n.Name || !f.selector.Matches(labels.Set(n.Labels)) || !f.affine(n) {
		return false, false
	}
	run, stay = true, true
	for _, taint := range n.Taints {
		if slices.ContainsFunc(f.tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) }) {
			continue
		}
		run = run && taint.Effect == corev1.TaintEffectPreferNoSchedule
		stay = stay && taint.Effect != corev1.TaintEffectNoExecute
	}
	return run, stay
}

func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.Operator == corev1.TolerationOpExists || (t.Key != "" && t.Value == taint.Value)
}

// affine reports whether one of the required terms matches the node.
func (f *daemonFit) affine(n *cluster.Node) bool {
	if f.affinity == nil {
		return true
	}
	return slices.ContainsFunc(f.affinity.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			return false
		}
		return matchAll(term.MatchExpressions, n.Labels) && matchAll(term.MatchFields, map[string]string{metav1.ObjectNameField: n.Name})
	})
}

var nodeOperators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// matchAll asks every requirement; one that cannot be read matches nothing.
func matchAll(list []corev1.NodeSelectorRequirement, own map[string]string) bool {
	for _, r := range list {
		req, err := labels.NewRequirement(r.Key, nodeOperators[r.Operator], r.Values)
		if err != nil || !req.Matches(labels.Set(own)) {
			return false
		}
	}
	return true
}

// daemonNodes returns the nodes that have or shall have a pod, by name.
func daemonNodes(v *View, spec *corev1.PodSpec) []rules.DaemonNode {
	fit := newDaemonFit(spec)
	on := make(map[string][]*cluster.Pod, len(v.Nodes))
	for _, p := range v.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	out := make([]rules.DaemonNode, 0, len(v.Nodes))
	for name, n := range v.Nodes {
		run, stay := fit.on(n)
		if run || len(on[name]) > 0 {
			out = append(out, rules.DaemonNode{Node: n, ShouldRun: run, Stay: stay, Pods: on[name]})
		}
		delete(on, name)
	}
	// Pods of nodes that have left.
	for name, pods := range on {
		out = append(out, rules.DaemonNode{Node: &cluster.Node{Name: name}, Pods: pods})
	}
	slices.SortFunc(out, func(a, b rules.DaemonNode) int { return strings.Compare(a.Name, b.Name) })
	return out
}
