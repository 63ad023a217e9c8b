package lower

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// unavailableBudget is one PodUnavailableBudget that is rendered.
type unavailableBudget struct {
	object
	spec kruise.PodUnavailableBudgetSpec
}

// lowerBudget returns the PodDisruptionBudget that guards the same pods against
// evictions, as far as it can (docs/kruise/protection.md#podunavailablebudget). The whole
// spec stays in an annotation, for the client driver.
func lowerBudget(c *stage.Context, related *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var budget kruise.PodUnavailableBudget
	o, err := newObject(c, r, "podunavailablebudget", &budget)
	if err != nil {
		return nil, err
	}
	b := &unavailableBudget{object: o, spec: budget.Spec}
	selector, err := b.selector(related)
	if err != nil {
		return nil, err
	}
	b.reportFields()
	if !b.protects(kruise.PubEvictOperation) {
		c.Lineage.Became(r.ID())
		return nil, nil
	}
	out := resource.Derived(b.native("policy/v1", "PodDisruptionBudget", func(*tree.Node) *tree.Node {
		field, value := b.limit()
		// Kruise always lets pods go that are not ready.
		return tree.Map(field, intOrStringNode(value), "selector", b.withoutIgnoredPods(selector), "unhealthyPodEvictionPolicy", "AlwaysAllow")
	}), r)
	c.Lineage.Became(r.ID(), out)
	return []*resource.Resource{out}, nil
}

// limit is the one number of the budget. A number of expected pods that the user
// gave turns it into how many must stay available, whatever owns the pods.
func (b *unavailableBudget) limit() (field string, value intstr.IntOrString) {
	field, limit := "minAvailable", b.spec.MinAvailable
	if b.spec.MaxUnavailable != nil {
		field, limit = "maxUnavailable", b.spec.MaxUnavailable
	}
	if limit == nil {
		return "maxUnavailable", intstr.FromInt32(math.MaxInt32)
	}
	if b.spec.ProtectTotalReplicas == nil || field == "minAvailable" && limit.Type == intstr.Int {
		return field, *limit
	}
	total := int(*b.spec.ProtectTotalReplicas)
	n := podCount(*limit, total, true)
	if field == "maxUnavailable" {
		n = max(total-n, 0)
	}
	return "minAvailable", intstr.FromInt(n)
}

// selector finds the pods: the budget's own selector, or that of its target.
func (b *unavailableBudget) selector(related *relatedObjects) (*tree.Node, error) {
	if own := tree.Get(b.hub, "spec", "selector"); own != nil {
		return own, nil
	}
	ref := tree.Get(b.hub, "spec", "targetRef")
	target := b.c.Facts.Find(targetID(b.c, b.r, ref))
	if target == nil {
		target = related.former[targetID(b.c, b.r, ref)]
	}
	if target == nil {
		return nil, b.r.Fault("spec.targetRef", "put the target into the input, name it with --with or --live, or use a selector",
			"a PodDisruptionBudget has no target, and %s %s, whose selector it would take, is not known", tree.StrAt(ref, "kind"), tree.StrAt(ref, "name"))
	}
	selector := tree.Get(target.Node(), "spec", "selector")
	if !tree.IsMap(selector) {
		return nil, b.r.Fault("spec.targetRef", "use a selector", "%s %s has no selector to take over", target.Kind(), target.Name())
	}
	b.report("podunavailablebudget/target", "spec.targetRef", "")
	return selector, nil
}

// withoutIgnoredPods returns the selector without the pods that the budget ignores, if a single
// requirement selects them: a selector cannot express "not both".
func (b *unavailableBudget) withoutIgnoredPods(selector *tree.Node) *tree.Node {
	ignored := b.spec.IgnoredPodSelector
	if ignored == nil || len(ignored.MatchLabels)+len(ignored.MatchExpressions) != 1 {
		return selector
	}
	out := tree.Shallow(selector)
	list := tree.Seq(tree.Items(tree.Get(out, "matchExpressions"))...)
	for key, value := range ignored.MatchLabels {
		list.Content = append(list.Content, requirement(key, "NotIn", []string{value}))
	}
	for _, e := range ignored.MatchExpressions {
		list.Content = append(list.Content, requirement(e.Key, oppositeOperators[string(e.Operator)], e.Values))
	}
	tree.Set(out, "matchExpressions", list)
	return out
}

var oppositeOperators = map[string]string{"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}

// protects reports whether the budget guards against an operation.
func (b *unavailableBudget) protects(op kruise.PubOperation) bool {
	if len(b.spec.ProtectOperations) == 0 {
		return op != kruise.PubResizeOperation
	}
	return slices.Contains(b.spec.ProtectOperations, op)
}

func (b *unavailableBudget) reportFields() {
	if b.spec.Selector != nil {
		b.report("podunavailablebudget/selector", "spec.selector", "")
	}
	for field, v := range map[string]*intstr.IntOrString{"maxUnavailable": b.spec.MaxUnavailable, "minAvailable": b.spec.MinAvailable} {
		if v != nil {
			b.report("podunavailablebudget/limit", "spec."+field, "")
		}
	}
	if b.spec.ProtectTotalReplicas != nil {
		_, n := b.limit()
		b.report("podunavailablebudget/total", "spec.protectTotalReplicas", fmt.Sprintf("minAvailable %s", n.String()))
	}
	b.reportOperations()
	if s := b.spec.IgnoredPodSelector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 1 {
		b.report("podunavailablebudget/ignored", "spec.ignoredPodSelector", "")
	} else if s != nil {
		b.report("podunavailablebudget/ignored-several", "spec.ignoredPodSelector", "")
	}
}

// reportOperations names what only Kruise guards against, also by default.
func (b *unavailableBudget) reportOperations() {
	const field = "spec.protectOperations"
	if !b.protects(kruise.PubEvictOperation) {
		b.report("podunavailablebudget/no-eviction", field, "")
		return
	}
	b.report("podunavailablebudget/eviction", field, "")
	if b.protects(kruise.PubDeleteOperation) || b.protects(kruise.PubUpdateOperation) || b.protects(kruise.PubResizeOperation) {
		id := "podunavailablebudget/operations"
		if b.c.Driver == stage.Client {
			id += "-client"
		}
		b.report(id, field, "")
	}
}
