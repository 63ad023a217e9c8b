package check

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// guardedPod refuses to delete a pod whose budget allows no further one to go
// (semantics sidecarset-and-protection 6).
func (s *subject) guardedPod() {
	pod := s.r.Node()
	exempt, _ := strconv.ParseBool(s.r.Annotation(kruise.NoProtectAnnotation))
	if exempt || !readyPod(pod) {
		return
	}
	for _, r := range s.c.Facts.All(kruise.PolicyGroup, "PodUnavailableBudget") {
		b := podBudget{s: s}
		if _, err := kruise.Decode(r.Node(), &b.PodUnavailableBudget); err != nil || s.c.Facts.NamespaceOf(r) != s.c.Facts.NamespaceOf(s.r) {
			continue
		}
		b.live = tree.Get(r.Node(), "status") != nil
		if b.covers(s.r) && b.refuses() {
			s.against(budgetSpent, "metadata.name", "wait until more pods are available", "PodUnavailableBudget %s allows no further pod to go", r.Name())
		}
	}
}

// podBudget is one budget, asked for one pod.
type podBudget struct {
	kruise.PodUnavailableBudget
	s *subject
	// live: it has a status, which was counted by Kruise.
	live bool
}

// covers reports whether the budget is the pod's.
func (b *podBudget) covers(r *resource.Resource) bool {
	if b.Spec.Selector != nil {
		return matches(b.Spec.Selector, r.Labels())
	}
	if b.Spec.TargetReference == nil {
		return false
	}
	owner := b.s.controllerOf(r)
	if owner != nil && !same(b.Spec.TargetReference, owner) && tree.StrAt(owner, "kind") == "ReplicaSet" {
		if set := b.s.find("apps", "ReplicaSet", tree.StrAt(owner, "name")); set != nil {
			owner = b.s.controllerOf(set)
		}
	}
	return owner != nil && same(b.Spec.TargetReference, owner)
}

// controllerOf returns the owner reference that is the controller's, nil when
// there is none.
func (s *subject) controllerOf(r *resource.Resource) *tree.Node {
	for _, ref := range tree.Items(tree.Get(r.Node(), "metadata", "ownerReferences")) {
		if tree.Bool(tree.Get(ref, "controller")) {
			return ref
		}
	}
	return nil
}

func matches(sel *metav1.LabelSelector, set map[string]string) bool {
	chosen, err := metav1.LabelSelectorAsSelector(sel)
	return err == nil && chosen.Matches(labels.Set(set))
}

func (b *podBudget) refuses() bool {
	if ignored := b.Spec.IgnoredPodSelector; ignored != nil && matches(ignored, b.s.r.Labels()) {
		return false
	}
	if ops := b.Spec.ProtectOperations; len(ops) > 0 && !slices.Contains(ops, kruise.PubDeleteOperation) {
		return false
	}
	_, disrupted := b.Status.DisruptedPods[b.s.r.Name()]
	_, unavailable := b.Status.UnavailablePods[b.s.r.Name()]
	if disrupted || unavailable {
		return false
	}
	if b.live {
		return b.Status.DesiredAvailable > 0 && b.Status.UnavailableAllowed <= 0
	}
	expected, available := b.count()
	desired := b.desired(expected)
	return desired > 0 && available <= desired
}

// desired is how many pods must stay available.
func (b *podBudget) desired(expected int) int {
	if v := b.Spec.MinAvailable; v != nil {
		n, _ := intstr.GetScaledValueFromIntOrPercent(v, expected, true)
		return n
	}
	n, _ := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(b.Spec.MaxUnavailable, intstr.FromInt32(0)), expected, true)
	return max(0, expected-n)
}

// count returns how many pods there shall be, and how many are available, as
// far as they are known.
func (b *podBudget) count() (expected, available int) {
	pods := b.s.c.Facts.All("", "Pod")
	if !slices.Contains(pods, b.s.r) {
		pods = append(pods, b.s.r)
	}
	replicas := map[resource.ID]int{}
	for _, r := range pods {
		if b.s.c.Facts.NamespaceOf(r) != b.s.c.Facts.NamespaceOf(b.s.r) || !b.covers(r) {
			continue
		}
		if readyPod(r.Node()) {
			available++
		}
		if owner := b.s.controllerOf(r); owner != nil {
			b.add(replicas, owner)
		}
	}
	for _, n := range replicas {
		expected += n
	}
	if ref := b.Spec.TargetReference; ref != nil {
		if target := b.s.find(resource.GroupOf(ref.APIVersion), ref.Kind, ref.Name); target != nil {
			expected = replicasOf(target)
		}
	}
	if n := b.Spec.ProtectTotalReplicas; n != nil {
		expected = int(*n)
	}
	return expected, available
}

// add counts a controller's replicas once; those of one that is not known are
// its pods.
func (b *podBudget) add(replicas map[resource.ID]int, owner *tree.Node) {
	id := resource.ID{Group: resource.GroupOf(tree.StrAt(owner, "apiVersion")), Kind: tree.StrAt(owner, "kind"), Name: tree.StrAt(owner, "name")}
	workload := b.s.find(id.Group, id.Kind, id.Name)
	if workload == nil {
		replicas[id]++
		return
	}
	replicas[id] = replicasOf(workload)
}

// replicasOf is how many pods a workload shall have; left out, it is stored as
// 1.
func replicasOf(r *resource.Resource) int {
	n := tree.Get(r.Node(), "spec", "replicas")
	if n == nil {
		return 1
	}
	v, _ := tree.Int(n)
	return int(v)
}
