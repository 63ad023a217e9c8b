package check

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// guardedPod refuses to delete a pod whose budget allows no further one to go
// (docs/kruise/protection.md#podunavailablebudget).
func (s *subject) guardedPod() {
	pod := s.r.Node()
	exempt, _ := strconv.ParseBool(s.r.Annotation(kruise.NoProtectAnnotation))
	if exempt || !readyPod(pod) {
		return
	}
	for _, r := range s.c.Facts.All(kruise.PolicyGroup, kruise.KindPodUnavailableBudget) {
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
	if owner != nil && !same(b.Spec.TargetReference, owner) {
		owner = b.s.behind(owner)
	}
	return owner != nil && same(b.Spec.TargetReference, owner)
}

// behind is the Deployment of a ReplicaSet, nil where a known one has none; any
// other owner stands for itself.
func (s *subject) behind(owner *tree.Node) *tree.Node {
	if tree.StrAt(owner, "kind") == kruise.KindReplicaSet {
		if set := s.find("apps", kruise.KindReplicaSet, tree.StrAt(owner, "name")); set != nil {
			return s.controllerOf(set)
		}
	}
	return owner
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
