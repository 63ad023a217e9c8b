package check

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const totalReplicas = "spec.protectTotalReplicas"

var budgetTarget = targetRule{path: "spec.targetRef"}

var _ = add(&kindRules{
	group: kruise.PolicyGroup, kind: kruise.KindPodUnavailableBudget, object: kruise.PodUnavailableBudget{},
	check: podUnavailableBudget,
})

// budgetCheck gathers the faults of one PodUnavailableBudget.
type budgetCheck struct {
	*subject
	spec *kruise.PodUnavailableBudgetSpec
}

// podUnavailableBudget has the rules of the webhook
// (docs/kruise/protection.md#podunavailablebudget and
// docs/kruise/sidecarset.md#observed-on-a-cluster).
func podUnavailableBudget(s *subject) {
	var budget kruise.PodUnavailableBudget
	if !s.read(&budget) {
		return
	}
	spec := &budget.Spec
	k := &budgetCheck{s, spec}
	k.target()
	k.limits()
	for _, op := range spec.ProtectOperations {
		exactlyOneOf(s, "spec.protectOperations", op, kruise.PubDeleteOperation, kruise.PubUpdateOperation, kruise.PubEvictOperation, kruise.PubResizeOperation)
	}
	if a := tree.Get(s.r.Node(), "metadata", "annotations", kruise.ProtectOperationsAnnotation); a != nil && s.c.Kruise.OrNewest().Before(kruise.Next) {
		for op := range strings.SplitSeq(tree.Str(a), ",") { // up to 1.9, which reads the text as it is
			if !slices.Contains([]string{"DELETE", "UPDATE", "EVICT", "RESIZE"}, op) || op == "RESIZE" && s.c.Kruise.OrNewest().Before(kruise.Minor(9)) {
				s.faultUnder("podunavailablebudget/operations-invalid", "metadata.annotations["+kruise.ProtectOperationsAnnotation+"]", "for instance DELETE,UPDATE", "%q is not an operation", op)
			}
		}
	}
	if spec.IgnoredPodSelector != nil {
		requiredSelector(s, "spec.ignoredPodSelector", spec.IgnoredPodSelector, "leave it out to ignore no pod")
	}
	k.totalReplicas()
	var old kruise.PodUnavailableBudget
	if s.decodeOld(&old) {
		immutableFields(s,
			fieldChange{"spec.selector", old.Spec.Selector, spec.Selector},
			fieldChange{budgetTarget.path, old.Spec.TargetReference, spec.TargetReference},
		)
	}
}

// target wants the pods to be chosen in exactly one way.
func (k *budgetCheck) target() {
	sel, ref := k.spec.Selector, k.spec.TargetReference
	switch {
	case sel == nil && ref == nil:
		k.fault("spec.selector", "", "selector or targetRef is required")
	case sel != nil && ref != nil:
		k.fault("spec.selector", "keep one of the two", "selector and targetRef are mutually exclusive")
	case sel != nil:
		if requiredSelector(k.subject, "spec.selector", sel, "name the labels of the pods") != nil {
			k.disjointSelector(sel)
		}
	default:
		if targetNamed(k.subject, budgetTarget, ref) {
			uniqueTarget(k.subject, budgetTarget, ref)
		}
	}
}

// disjointSelector wants no other budget whose selector has the same keys to select the
// same pods. Selectors with other keys are not compared.
func (k *budgetCheck) disjointSelector(sel *metav1.LabelSelector) {
	mine, id := requirements(sel), k.c.Facts.IDOf(k.r)
	x := indexSelectors(k.c.Facts, kruise.PolicyGroup, kruise.KindPodUnavailableBudget)
	others := first(x.candidates(id.Namespace, mine), func(place int) bool {
		theirs := x.wants[place]
		return x.existsBefore(place, k.r, id) && compatible(mine, theirs) && compatible(theirs, mine)
	})
	if len(others) > 0 {
		k.fault("spec.selector", "make the selectors disjoint", "PodUnavailableBudget %s may select the same pods", x.names(others))
	}
}

// limits wants one number or percentage.
func (k *budgetCheck) limits() {
	spec := k.spec
	switch given(spec.MaxUnavailable != nil, spec.MinAvailable != nil) {
	case 0:
		k.fault("spec.maxUnavailable", "", "maxUnavailable or minAvailable is required")
	case 2:
		k.fault("spec.maxUnavailable", "keep one of the two", "maxUnavailable and minAvailable are mutually exclusive")
	}
	numberOrPartOfWhole(k.subject, "spec.maxUnavailable", spec.MaxUnavailable)
	numberOrPartOfWhole(k.subject, "spec.minAvailable", spec.MinAvailable)
}

// totalReplicas checks the number of replicas, which v1alpha1 has in an annotation;
// v1beta1 only compares the annotation with the field.
func (k *budgetCheck) totalReplicas() {
	field := k.spec.ProtectTotalReplicas
	const at = "metadata.annotations[" + kruise.ProtectTotalReplicasAnnotation + "]"
	text := strings.TrimSpace(k.r.Annotation(kruise.ProtectTotalReplicasAnnotation))
	n, err := strconv.ParseInt(text, 10, 32)
	const rule = "podunavailablebudget/total-replicas-invalid"
	switch alpha := k.r.Version() == kruise.V1alpha1; {
	case text != "" && alpha && (err != nil || n < 1):
		k.faultUnder(rule, at, "", "%q is not a number from 1", text)
	case field != nil && *field < 1:
		k.fault(totalReplicas, "", "%d must be 1 or more", *field)
	case text != "" && !alpha && field != nil && (err != nil || int64(*field) != n):
		k.faultUnder(rule, at, "remove the annotation", "%q is not the %d of %s", text, *field, totalReplicas)
	}
}
