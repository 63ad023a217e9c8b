package lower

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// staying are the kinds that stay as they are, each with the rule that says so and
// the field it speaks of.
var staying = map[string]struct{ rule, field string }{
	kruise.KindNodeImage:    {"nodeimage/kept", "spec.images"},
	kruise.KindNodePodProbe: {"nodepodprobe/kept", "spec.podProbes"},
}

// reportKept reports an object of Kruise that nothing expands, where it was
// asked for: the object passes through unchanged.
func reportKept(c *stage.Context, r *resource.Resource) {
	group := r.Group()
	if !ours(r) || replaced(group, r.Kind()) || !c.Expand(r.Kind()) {
		return
	}
	if k, ok := staying[r.Kind()]; ok {
		c.Findings.Add(k.rule, r, k.field, "")
		return
	}
	c.Findings.Add("kruise/not-expanded", r, "kind", r.Kind()+" of "+group+" stays a Kruise object: it needs Kruise in the cluster")
}

// replaced reports whether some stage of the pipeline replaces objects of a kind.
func replaced(group, kind string) bool {
	k, _ := kruise.Lookup(group, kind)
	return k.Expansion != kruise.ExpansionNone && k.Expansion != kruise.ExpansionSteps
}

// ours reports whether an object is of one of Kruise's groups.
func ours(r *resource.Resource) bool {
	return r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup
}
