package controller

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// daemonSet is an Advanced DaemonSet, or one of Kubernetes, in one pass. The
// rules are the same; what Kruise adds is not set for the other.
type daemonSet struct {
	view *View
	pass Pass
	rule rules.DaemonSet
	// update is the newest revision, revisions are all.
	update    cluster.Revision
	revisions []cluster.Revision
	policy    rules.UpdatePolicy
}

// reconcileDaemonSet makes one pass of an Advanced DaemonSet
// (docs/kruise/workloads.md#advanced-daemonset).
func reconcileDaemonSet(v *View, o *kruise.DaemonSet) Pass {
	s := newDaemonSet(v, &o.Spec, o.Status.CollisionCount)
	s.rule.Scheduled = int(o.Status.DesiredNumberScheduled)
	s.policy = rules.PolicyOf(o)
	s.run()
	status := o.Status
	s.count(&status)
	status.UpdateRevision = cluster.Hash(s.update.Name)
	s.pass.Status = changed(&o.Status, &status)
	v.dropRevisions(&s.pass, s.revisions, o.Spec.RevisionHistoryLimit, s.update.Name)
	return s.pass
}

// reconcileNativeDaemonSet makes one pass of a DaemonSet of Kubernetes. The older
// mark of an updated pod is not looked at: only an API server counts it up.
func reconcileNativeDaemonSet(v *View, o *appsv1.DaemonSet) Pass {
	s := newDaemonSet(v, rules.AsDaemonSetSpec(&o.Spec), o.Status.CollisionCount)
	s.rule.TemplateGeneration = ""
	s.rule.Scheduled = int(o.Status.DesiredNumberScheduled)
	s.policy = rules.PolicyRecreate
	s.run()
	var n kruise.DaemonSetStatus
	s.count(&n)
	status := *o.Status.DeepCopy()
	status.ObservedGeneration, status.DesiredNumberScheduled = n.ObservedGeneration, n.DesiredNumberScheduled
	status.CurrentNumberScheduled, status.UpdatedNumberScheduled = n.CurrentNumberScheduled, n.UpdatedNumberScheduled
	status.NumberMisscheduled, status.NumberReady = n.NumberMisscheduled, n.NumberReady
	status.NumberAvailable, status.NumberUnavailable = n.NumberAvailable, n.NumberUnavailable
	s.pass.Status = changed(&o.Status, &status)
	v.dropRevisions(&s.pass, s.revisions, o.Spec.RevisionHistoryLimit, s.update.Name)
	return s.pass
}

func newDaemonSet(v *View, spec *kruise.DaemonSetSpec, collisions *int32) *daemonSet {
	s := &daemonSet{view: v}
	s.update, s.revisions = v.syncRevision(&s.pass, or(collisions, 0), "")
	s.rule = rules.DaemonSet{
		Spec: spec, Update: s.update.Name, TemplateGeneration: v.Workload.Annotations[appsv1.DeprecatedTemplateGeneration],
		Nodes: daemonNodes(v, &spec.Template.Spec), Now: v.Now,
	}
	return s
}

// run does what there is to do. As long as pods come and go for other reasons,
// the update waits.
func (s *daemonSet) run() {
	// Bring in-place updates forward, and delete the pods that their hook has released; it reports whether there were any.
	held := false
	for _, p := range s.view.Pods {
		if !rules.Active(p) {
			continue
		}
		if rules.StateOf(p) == rules.StatePreparingDelete && s.remove(p) {
			held = true
			continue
		}
		var c cluster.PodChange
		s.pass.requeueAfter(s.view.refreshInPlace(&c, p))
		if !c.Empty() {
			s.pass.act(PatchPod{Pod: p, Change: c})
		}
	}

	// Create and remove pods so that there is one per node, and report whether it did anything.
	todo := s.rule.Manage()
	for _, node := range todo.Create {
		s.create(node)
	}
	acted := len(todo.Create) > 0
	for _, p := range todo.Remove {
		acted = s.remove(p) || acted
	}
	if acted {
		s.pass.Why = fmt.Sprintf("%s missing, %d too many", counted.PodsAre(len(todo.Create)), len(todo.Remove))
	}
	if !acted && !held {
		s.updatePods()
	}
	s.pass.requeueAfter(untilAvailable(s.view.Pods, s.rule.Spec.MinReadySeconds, s.view.Now))
}

// create makes a pod of the newest revision on a node.
func (s *daemonSet) create(node string) {
	a := CreatePod{
		Prefix: s.view.Workload.Name + "-", Revision: s.update.Name, Node: node,
		Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: cluster.Hash(s.update.Name)},
	}
	if g := s.rule.TemplateGeneration; g != "" {
		a.Labels[templateGenerationLabel] = g
	}
	if s.policy != rules.PolicyRecreate {
		a.Gates = []string{kruise.InPlaceUpdateReady}
	}
	s.pass.act(a)
}

// templateGenerationLabel is the label that the template generation marks
// pods with.
const templateGenerationLabel = "pod-template-generation"

// remove deletes a pod, or has it wait for its hook; it reports whether it wrote.
func (s *daemonSet) remove(p *cluster.Pod) bool {
	to, now := rules.StateToDelete(p, s.rule.Spec.Lifecycle)
	switch {
	case now:
		s.pass.act(DeletePod{Pod: p})
		return true
	case rules.StateOf(p) == to:
		return false
	}
	var c cluster.PodChange
	enterState(&c, p, to, s.rule.Spec.Lifecycle, s.view.Now)
	s.pass.act(PatchPod{Pod: p, Change: c})
	return true
}

// count fills in the status. Of each node the oldest pod counts, also while it
// terminates.
func (s *daemonSet) count(out *kruise.DaemonSetStatus) {
	n := kruise.DaemonSetStatus{
		ObservedGeneration: s.view.Workload.Generation,
		CollisionCount:     out.CollisionCount, Conditions: out.Conditions,
	}
	for _, node := range s.rule.Nodes {
		switch {
		case !node.ShouldRun:
			n.NumberMisscheduled++
			continue
		case len(node.Pods) == 0:
			n.DesiredNumberScheduled++
			continue
		}
		n.DesiredNumberScheduled++
		n.CurrentNumberScheduled++
		oldest := slices.MinFunc(node.Pods, func(a, b *cluster.Pod) int { return a.Created.Compare(b.Created) })
		ready, available, updated := s.rule.Standing(oldest)
		n.NumberReady += one(ready)
		n.NumberAvailable += one(available)
		n.UpdatedNumberScheduled += one(updated)
	}
	n.NumberUnavailable = n.DesiredNumberScheduled - n.NumberAvailable
	*out = n
}

// updatePods makes a round of the update. What is replaced outside the budget comes
// first, so that a refusal of the others does not hold it up.
func (s *daemonSet) updatePods() {
	todo := s.rule.ChooseUpdate()
	s.pass.Why = todo.Why
	burst := s.rule.Limits().Burst
	for _, p := range todo.Finished[:min(burst, len(todo.Finished))] {
		s.remove(p)
	}
	// Report how pods come to a revision: only those made with the readiness gate can be updated in place.
	r := s.update
	hash := cluster.Hash(r.Name)
	to := &updates{
		view: s.view, all: s.revisions, update: r, policy: s.policy, needsGate: true,
		revision: hash, labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: hash},
	}
	chosen := slices.Concat(todo.Broken, s.pickRandom(todo.Candidates, todo.Room))
	for _, p := range chosen[:min(burst, len(chosen))] {
		if todo.Surge {
			s.create(p.Node)
		} else {
			s.updatePod(p, to)
		}
	}
}

// pickRandom takes n of the pods at random.
func (s *daemonSet) pickRandom(list []*cluster.Pod, n int) []*cluster.Pod {
	for i := range n {
		j := i
		if s.view.Chance != nil {
			j += s.view.Chance.Below(len(list) - i)
		}
		list[i], list[j] = list[j], list[i]
	}
	return list[:n]
}

// updatePod updates a pod in place where that can be done, else its node gets a
// new one as soon as it is gone.
func (s *daemonSet) updatePod(p *cluster.Pod, to *updates) {
	if _, _, inPlace := to.of(p); inPlace != nil {
		s.pass.act(PatchPod{Pod: p, Change: inPlace.start(p, s.view.Now)})
		return
	}
	s.remove(p)
}

// daemonFit defines which nodes a pod of a DaemonSet may be on.
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

// on answers for one node: whether it should have a pod, and whether one that is
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

// daemonNodes returns the nodes that have or should have a pod, by name.
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

// DaemonTolerations are what a store adds to the pods that an action binds to a
// node (docs/kruise/workloads.md#what-is-added-to-pods).
func DaemonTolerations() []corev1.Toleration { return slices.Clone(daemonTolerations) }
