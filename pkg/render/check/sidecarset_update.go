package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// updateType is updateStrategy.type with its default.
func (k *setCheck) updateType() string {
	if t := tree.StrAt(k.spec, "updateStrategy", "type"); t != "" {
		return t
	}
	return "RollingUpdate"
}

// updateStrategy is checked unless the type is NotUpdate.
func (k *setCheck) updateStrategy() {
	const path = "spec.updateStrategy"
	n := tree.Get(k.spec, "updateStrategy")
	switch k.updateType() {
	case "NotUpdate":
		return
	case "RollingUpdate":
	default:
		k.c.Findings.Add("sidecarset/ignored-value", k.r, path+".type", "Kruise accepts the type and treats it as RollingUpdate")
	}
	partition := tree.Get(n, "partition")
	if sel := tree.Get(n, "selector"); sel != nil {
		k.selector(path+".selector", sel)
		if v, ok := tree.Int(partition); partition != nil && (!ok || v != 0) {
			k.fault(path, "use one of the two", "selector and partition exclude each other")
		}
	}
	k.amount(path+".partition", partition)
	k.amount(path+".maxUnavailable", tree.Get(n, "maxUnavailable"))
	k.priorities(path+".priorityStrategy", tree.Get(n, "priorityStrategy"))
	k.scatter(path+".scatterStrategy", tree.Get(n, "scatterStrategy"))
}

// amount wants a number that is not negative, or a percentage.
func (k *setCheck) amount(path string, n *tree.Node) {
	if n == nil {
		return
	}
	if v, ok := tree.Int(n); ok {
		if v < 0 {
			k.fault(path, "", "must be greater than or equal to 0, got %d", v)
		}
		return
	}
	if len(validation.IsValidPercent(tree.Str(n))) > 0 {
		k.fault(path, "", "want an integer or a percentage such as 20%%, got %q", tree.Str(n))
	}
}

func (k *setCheck) priorities(path string, n *tree.Node) {
	weights, orders := tree.Items(tree.Get(n, "weightPriority")), tree.Items(tree.Get(n, "orderPriority"))
	if len(weights) > 0 && len(orders) > 0 {
		k.fault(path, "use one of the two", "weightPriority and orderPriority exclude each other")
	}
	for i, w := range weights {
		here := fmt.Sprintf("%s.weightPriority[%d]", path, i)
		if v, ok := tree.Int(tree.Get(w, "weight")); !ok || v < 0 || v > 100 {
			k.fault(here+".weight", "", "want 0 to 100")
		}
		if sel := tree.Get(w, "matchSelector"); sel != nil {
			k.selector(here+".matchSelector", sel)
		}
	}
	for i, o := range orders {
		if tree.StrAt(o, "orderedKey") == "" {
			k.fault(fmt.Sprintf("%s.orderPriority[%d].orderedKey", path, i), "", "required")
		}
	}
}

func (k *setCheck) scatter(path string, n *tree.Node) {
	seen := map[[2]string]bool{}
	for i, term := range tree.Items(n) {
		here := fmt.Sprintf("%s[%d]", path, i)
		id := [2]string{tree.StrAt(term, "key"), tree.StrAt(term, "value")}
		switch {
		case id[0] == "":
			k.fault(here+".key", "", "required")
		case seen[id]:
			k.fault(here, "", "%s=%s is there twice", id[0], id[1])
		}
		seen[id] = true
	}
}
