package check_test

import (
	"testing"
)

const goodBudget = `
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: guard, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  maxUnavailable: 1
`

const otherBudgets = `
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: other, namespace: shop}
spec: {selector: {matchLabels: {tier: front}}, maxUnavailable: 1}
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: elsewhere, namespace: far}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}
---
apiVersion: policy.kruise.io/v1alpha1
kind: PodUnavailableBudget
metadata: {name: by-target, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxUnavailable: 1}
`

func TestPodUnavailableBudget_Rules(t *testing.T) {
	const selector, most = "selector: {matchLabels: {app: web}}", "maxUnavailable: 1"
	alpha := func(key, value string) []string {
		return []string{"v1beta1", "v1alpha1", "namespace: shop", "namespace: shop, annotations: {" + key + ": '" + value + "'}"}
	}
	const operations, total = "kruise.io/pub-protect-operations", "pub.kruise.io/protect-total-replicas"
	list := []ruling{
		{name: "target", edit: []string{selector, "targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}"}},
		{name: "percentage", edit: []string{most, "minAvailable: 100%"}},
		{name: "nothing may go", edit: []string{most, "maxUnavailable: 0"}},
		{name: "annotations", edit: alpha(operations, "DELETE,UPDATE")},
		{name: "number", edit: alpha(total, "15")},
		{name: "annotation that says the same", edit: []string{"namespace: shop", "namespace: shop, annotations: {" + total + ": '5'}", most, most + "\n  protectTotalReplicas: 5"}},
		{name: "other keys", edit: []string{"{app: web}", "{app: web, tier: front}"}},
		{name: "same keys, other values", edit: []string{"{app: web}", "{tier: back}"}},
		{name: "same keys", edit: []string{"{matchLabels: {app: web}}", "{matchExpressions: [{key: tier, operator: In, values: [back, front]}]}"}, want: "podunavailablebudget/selector-invalid spec.selector"},
		{name: "same target", edit: []string{selector, "targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"}, want: "podunavailablebudget/target-invalid spec.targetRef"},
		{name: "half a target", edit: []string{selector, "targetRef: {apiVersion: apps/v1, kind: Deployment, name: ''}"}, want: "podunavailablebudget/target-invalid spec.targetRef"},
		{name: "no pods", edit: []string{"  " + selector + "\n", ""}, want: "podunavailablebudget/selector-invalid spec.selector"},
		{name: "both", edit: []string{selector, selector + "\n  targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}"}, want: "podunavailablebudget/selector-invalid spec.selector"},
		{name: "empty", edit: []string{selector, "selector: {}"}, want: "podunavailablebudget/selector-invalid spec.selector"},
		{name: "no budget", edit: []string{"  " + most + "\n", ""}, want: "podunavailablebudget/budget-invalid spec.maxUnavailable"},
		{name: "two budgets", edit: []string{most, most + "\n  minAvailable: 1"}, want: "podunavailablebudget/budget-invalid spec.maxUnavailable"},
		{name: "negative", edit: []string{most, "maxUnavailable: -1"}, want: "podunavailablebudget/budget-invalid spec.maxUnavailable"},
		{name: "more than all", edit: []string{most, "minAvailable: 101%"}, want: "podunavailablebudget/budget-invalid spec.minAvailable"},
		{name: "operation", edit: []string{most, most + "\n  protectOperations: [SLEEP]"}, want: "podunavailablebudget/operations-invalid spec.protectOperations"},
		{name: "operation in v1alpha1", edit: alpha(operations, "DELETE,SLEEP"), want: "podunavailablebudget/operations-invalid spec.protectOperations"},
		{name: "ignored", edit: []string{most, most + "\n  ignoredPodSelector: {}"}, want: "podunavailablebudget/ignored-selector-invalid spec.ignoredPodSelector"},
		{name: "number of none", edit: []string{most, most + "\n  protectTotalReplicas: 0"}, want: "podunavailablebudget/total-replicas-invalid spec.protectTotalReplicas"},
		{name: "text", edit: alpha(total, "many"), want: "podunavailablebudget/total-replicas-invalid metadata.annotations[" + total + "]"},
		{name: "none in v1alpha1", edit: alpha(total, "0"), want: "podunavailablebudget/total-replicas-invalid metadata.annotations[" + total + "]"},
		{name: "annotation that says another", edit: []string{"namespace: shop", "namespace: shop, annotations: {" + total + ": '6'}", most, most + "\n  protectTotalReplicas: 5"}, want: "podunavailablebudget/total-replicas-invalid metadata.annotations[" + total + "]"},
		{name: "selector changed", edit: []string{"{app: web}", "{app: api}"}, old: []string{}, want: "object/immutable-field spec.selector"},
		{name: "budget changed", edit: []string{most, "minAvailable: 1"}, old: []string{}},
	}
	rulingsAround(t, goodBudget, list, otherBudgets)
}
