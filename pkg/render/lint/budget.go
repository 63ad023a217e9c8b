package lint

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Rules about budgets.
var _ = advise(
	advice{
		Rule:  Rule{ID: "podunavailablebudget/never-allows", Kind: kruise.KindPodUnavailableBudget, Severity: Warning, Doc: "A budget that can never allow a disruption stops rollouts and drains for good."},
		kinds: []string{budget}, look: neverAllows,
	},
	advice{
		Rule:  Rule{ID: "podunavailablebudget/covers-nothing", Kind: kruise.KindPodUnavailableBudget, Severity: Warning, Doc: "The selector finds no pod template among the objects, or the target is none of them."},
		kinds: []string{budget}, look: coversNothing,
	},
	advice{
		Rule:  Rule{ID: "podunavailablebudget/two-budgets", Kind: kruise.KindPodUnavailableBudget, Severity: Warning, Doc: "A PodDisruptionBudget guards the same pods: an eviction needs both, and each counts what the other allowed."},
		kinds: []string{budget}, look: twoBudgets,
	},
)

// covered returns the templates that a budget covers.
func (s *subject) covered(b *kruise.PodUnavailableBudget) (list []template, known bool) {
	namespace := s.c.Facts.NamespaceOf(s.r)
	if ref := b.Spec.TargetReference; ref != nil {
		for _, t := range s.templates {
			if t.owner.Kind() == ref.Kind && t.owner.Name() == ref.Name && t.namespace == namespace && t.owner.Group() == resource.GroupOf(ref.APIVersion) {
				return []template{t}, true
			}
		}
		return nil, s.request.Known
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil, false
	}
	return s.selected(namespace, selector), len(s.templates) > 0
}

func neverAllows(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	if m := b.Spec.MaxUnavailable; m != nil && of(m, 100) == 0 {
		s.say("spec.maxUnavailable", "allow at least 1", "never allows a disruption")
		return
	}
	list, _ := s.covered(&b)
	expected := 0
	for _, t := range list {
		expected += max(t.replicas, 0)
	}
	if b.Spec.ProtectTotalReplicas != nil {
		expected = int(*b.Spec.ProtectTotalReplicas)
	}
	if m := b.Spec.MinAvailable; m != nil && expected > 0 && of(m, expected) >= expected {
		s.say("spec.minAvailable", "leave room for at least one pod", "asks for %s of %d pods, and so never allows a disruption", m.String(), expected)
	}
}

// of is the number of pods that a value means, rounded up.
func of(v *intstr.IntOrString, total int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, total, true)
	if err != nil {
		return 0
	}
	return n
}

func coversNothing(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	if list, known := s.covered(&b); known && len(list) == 0 {
		field := "spec.selector"
		if b.Spec.TargetReference != nil {
			field = "spec.targetRef"
		}
		s.say(field, "compare with the workloads, or name what else exists with --with", "finds no pod template")
	}
}

func twoBudgets(s *subject) {
	var b kruise.PodUnavailableBudget
	if !s.decode(&b) {
		return
	}
	list, _ := s.covered(&b)
	for _, pdb := range s.c.Facts.All("policy", "PodDisruptionBudget") {
		if s.c.Facts.NamespaceOf(pdb) != s.c.Facts.NamespaceOf(s.r) {
			continue
		}
		for _, t := range list {
			if selects(pdb, t.labels) {
				s.say("spec", "keep one of the two, or leave EVICT out of protectOperations", "PodDisruptionBudget %s guards the pods of %s %s, too", pdb.Name(), strings.ToLower(t.owner.Kind()), t.owner.Name())
				break
			}
		}
	}
}

// selects reports whether an object's spec.selector finds the labels.
func selects(r *resource.Resource, set labels.Set) bool {
	var s metav1.LabelSelector
	if _, err := tree.Decode(tree.Get(r.Node(), "spec", "selector"), &s); err != nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	return err == nil && !selector.Empty() && selector.Matches(set)
}
