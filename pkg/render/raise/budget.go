package raise

import (
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// raiseBudget returns the PodUnavailableBudget that refuses the same evictions,
// and more where that is asked for (docs/kruise/protection.md#podunavailablebudget).
func raiseBudget(o object) (*tree.Node, error) {
	var source policyv1.PodDisruptionBudget
	if err := o.decode(&source); err != nil {
		return nil, err
	}
	o.reportSame("poddisruptionbudget/same", "selector", "minAvailable", "maxUnavailable")
	o.report("poddisruptionbudget/forbidden", "spec", "")
	if p := source.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		o.report("poddisruptionbudget/unhealthy-always", "spec.unhealthyPodEvictionPolicy", "")
	} else {
		o.report("poddisruptionbudget/unhealthy", "spec.unhealthyPodEvictionPolicy", "")
	}
	operations := o.operations()
	return o.become(kruise.PolicyGroup, kruise.KindPodUnavailableBudget, func(spec *tree.Node) *tree.Node {
		out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
			if name == "unhealthyPodEvictionPolicy" {
				return name, nil
			}
			return name, v
		})
		tree.Set(out, "protectOperations", operations)
		return out
	}), nil
}

// operations are what the budget refuses, written out: the default is more than
// a PodDisruptionBudget does.
func (o object) operations() *tree.Node {
	list := o.opt.ProtectOperations
	if len(list) == 0 {
		list = []kruise.PubOperation{kruise.PubEvictOperation}
		o.report("poddisruptionbudget/operations", "spec", "")
	} else {
		text := make([]string, len(list))
		for i, op := range list {
			text[i] = string(op)
		}
		o.report("poddisruptionbudget/operations-more", "spec", fmt.Sprintf("the budget refuses %s, where a PodDisruptionBudget refuses only evictions", strings.Join(text, ", ")))
	}
	items := make([]*tree.Node, len(list))
	for i, op := range list {
		items[i] = tree.String(string(op))
	}
	return tree.Seq(items...)
}
