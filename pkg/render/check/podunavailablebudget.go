package check

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

const totalReplicas = "spec.protectTotalReplicas"

var budgetTarget = targeting{path: "spec.targetRef"}

var _ = add(&kindRules{
	group: kruise.PolicyGroup, kind: kruise.KindPodUnavailableBudget, object: kruise.PodUnavailableBudget{},
	check: podUnavailableBudget,
	rules: []Rule{
		{ID: "selector-invalid", fields: []string{"spec.selector"}, Doc: "Not exactly one of selector and targetRef is given, the selector is empty or malformed, or another budget selects by the same labels."},
		{ID: "target-invalid", fields: []string{budgetTarget.path}, Doc: "The target is not named completely, or another budget has it."},
		{ID: "budget-invalid", fields: []string{"spec.maxUnavailable", "spec.minAvailable"}, Doc: "Not exactly one of maxUnavailable and minAvailable is given, or it is malformed."},
		{ID: "operations-invalid", fields: []string{"spec.protectOperations", "metadata.annotations[" + kruise.ProtectOperationsAnnotation + "]"}, Doc: "A protected operation is none of DELETE, UPDATE, EVICT, RESIZE."},
		{ID: "total-replicas-invalid", fields: []string{totalReplicas}, Doc: "The number of replicas is not a number from 1, or field and annotation disagree."},
		{ID: "ignored-selector-invalid", fields: []string{"spec.ignoredPodSelector"}, Doc: "The selector of ignored pods is empty or malformed."},
	},
})

// podUnavailableBudget holds the rules of the webhook
// (docs/kruise/protection.md#podunavailablebudget and
// docs/kruise/sidecarset.md#observed-on-a-cluster).
func podUnavailableBudget(s *subject) {
	var budget kruise.PodUnavailableBudget
	if !s.read(&budget) {
		return
	}
	spec := &budget.Spec
	s.guarded(spec)
	s.budget(spec)
	for _, op := range spec.ProtectOperations {
		oneOf(s, "spec.protectOperations", op, kruise.PubDeleteOperation, kruise.PubUpdateOperation, kruise.PubEvictOperation, kruise.PubResizeOperation)
	}
	if spec.IgnoredPodSelector != nil {
		s.choose("spec.ignoredPodSelector", spec.IgnoredPodSelector, "leave it out to ignore no pod")
	}
	s.total(spec.ProtectTotalReplicas)
	var old kruise.PodUnavailableBudget
	if s.before(&old) {
		s.constant(
			unchanging{"spec.selector", old.Spec.Selector, spec.Selector},
			unchanging{budgetTarget.path, old.Spec.TargetReference, spec.TargetReference},
		)
	}
}

// guarded: which pods, in one way.
func (s *subject) guarded(spec *kruise.PodUnavailableBudgetSpec) {
	sel, ref := spec.Selector, spec.TargetReference
	switch {
	case sel == nil && ref == nil:
		s.fault("spec.selector", "", "selector or targetRef is required")
	case sel != nil && ref != nil:
		s.fault("spec.selector", "keep one of the two", "selector and targetRef exclude each other")
	case sel != nil:
		if s.choose("spec.selector", sel, "name the labels of the pods") != nil {
			s.disjoint(sel)
		}
	default:
		if s.complete(budgetTarget, ref) {
			s.alone(budgetTarget, ref)
		}
	}
}

// disjoint: two budgets that select by the same keys may not meet; others are
// not compared.
func (s *subject) disjoint(sel *metav1.LabelSelector) {
	mine, id := requirements(sel), s.c.Facts.IDOf(s.r)
	x := s.selectors(kruise.PolicyGroup, kruise.KindPodUnavailableBudget)
	for _, place := range x.near(id.Namespace, mine) {
		theirs := x.wants[place]
		if x.beside(place, s.r, id) && compatible(mine, theirs) && compatible(theirs, mine) {
			s.fault("spec.selector", "make the selectors disjoint", "PodUnavailableBudget %s may select the same pods", x.all[place].r.Name())
		}
	}
}

// budget: one number or percentage.
func (s *subject) budget(spec *kruise.PodUnavailableBudgetSpec) {
	switch given(spec.MaxUnavailable != nil, spec.MinAvailable != nil) {
	case 0:
		s.fault("spec.maxUnavailable", "", "maxUnavailable or minAvailable is required")
	case 2:
		s.fault("spec.maxUnavailable", "keep one of the two", "maxUnavailable and minAvailable exclude each other")
	}
	s.part("spec.maxUnavailable", spec.MaxUnavailable)
	s.part("spec.minAvailable", spec.MinAvailable)
}

// total: v1alpha1 writes the number as an annotation, which v1beta1 only
// compares with the field.
func (s *subject) total(field *int32) {
	const at = "metadata.annotations[" + kruise.ProtectTotalReplicasAnnotation + "]"
	text := strings.TrimSpace(s.r.Annotation(kruise.ProtectTotalReplicasAnnotation))
	n, err := strconv.ParseInt(text, 10, 32)
	const rule = "podunavailablebudget/total-replicas-invalid"
	switch alpha := s.r.Version() == kruise.V1alpha1; {
	case text != "" && alpha && (err != nil || n < 1):
		s.against(rule, at, "", "%q is not a number from 1", text)
	case field != nil && *field < 1:
		s.fault(totalReplicas, "", "%d must be 1 or more", *field)
	case text != "" && !alpha && field != nil && (err != nil || int64(*field) != n):
		s.against(rule, at, "remove the annotation", "%q is not the %d of %s", text, *field, totalReplicas)
	}
}
