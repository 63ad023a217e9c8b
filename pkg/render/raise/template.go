package raise

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// template returns the pod template for a kind whose webhook writes pull
// policies. rules is what the IDs of the kind's findings begin with.
func (o object) template(rules, at string, source *tree.Node) *tree.Node {
	o.report(rules+"/template", at, "")
	spec := tree.Get(source, "spec")
	containers := tree.Get(spec, "containers")
	if !tree.IsSeq(containers) {
		return source
	}
	list, changed := tree.Shallow(containers), false
	for i, c := range containers.Content {
		if !tree.IsMap(c) || tree.StrAt(c, "imagePullPolicy") != "" || kruise.PullPolicyOf(tree.StrAt(c, "image")) == kruise.WebhookPullPolicy {
			continue
		}
		c, changed = tree.Shallow(c), true
		tree.InsertAfter(c, "image", "imagePullPolicy", tree.String(string(kruise.PullPolicyOf(tree.StrAt(c, "image")))))
		list.Content[i] = c
		o.report(rules+"/image-pull-policy", fmt.Sprintf("%s.spec.containers[%d].imagePullPolicy", at, i), "")
	}
	if !changed {
		return source
	}
	return with(source, "spec", with(spec, "containers", list))
}

// gated returns the template with the readiness gate that updates in place need
// where the webhook asks for it (docs/kruise/workloads.md#advanced-statefulset).
func (o object) gated(rules string, template *tree.Node) *tree.Node {
	spec := tree.Get(template, "spec")
	gates := tree.Get(spec, "readinessGates")
	if gate, _ := tree.Find(gates, "conditionType", kruise.InPlaceUpdateReady); gate != nil || !tree.IsMap(spec) {
		return template
	}
	o.report(rules+"/in-place-gate", "spec.template", "")
	list := tree.Seq(append(slices.Clip(tree.Items(gates)), tree.Map("conditionType", kruise.InPlaceUpdateReady))...)
	return with(template, "spec", with(spec, "readinessGates", list))
}
