package changes

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// templates are the fields of a UnitedDeployment with a template of workloads.
var templates = []struct {
	field string
	pair  [2]string
}{
	{"cloneSetTemplate", kinds[0]},
	{"advancedStatefulSetTemplate", kinds[2]},
	{"statefulSetTemplate", kinds[5]},
	{"deploymentTemplate", kinds[4]},
}

// Templates is how many kinds of workloads the subsets of a UnitedDeployment can have.
var Templates = len(templates)

// United makes up the UnitedDeployment with a number, and what becomes of it. Those of as many
// numbers as there are kinds of subsets have one of each.
func United(number uint64) *Change {
	c := newChange(number)
	of := templates[number%uint64(Templates)]
	c.begin(of.pair)
	spec := c.in()
	delete(spec, "replicas")
	if c.byHand() { // the pods of such subsets are updated when a user deletes them
		delete(spec, "updateStrategy")
	}
	c.Kind = "UnitedDeployment of " + of.pair[0] + " " + of.pair[1]
	c.Old = map[string]any{
		"apiVersion": "apps.kruise.io/v1beta1", "kind": kruise.KindUnitedDeployment, "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"selector": spec["selector"],
			"template": map[string]any{of.field: map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": spec}},
		},
	}
	c.divide(c.Old)
	c.New = copied(c.Old)
	c.doc, _ = c.New["spec"].(map[string]any)["template"].(map[string]any)[of.field].(map[string]any)
	c.editBy([]edit{{2, c.editTemplate}, {6, c.editStrategy}, {10, c.editMinReady}, {3, func() bool { c.divide(c.New); return true }}})
	return c
}

// divide gives the subsets their replicas.
func (c *Change) divide(united map[string]any) {
	spec, _ := united["spec"].(map[string]any)
	var subsets []any
	all := 0
	for _, name := range []string{"zone-b", "zone-a"} {
		n := c.chance.IntN(4)
		all += n
		subsets = append(subsets, map[string]any{"name": name, "replicas": n})
	}
	if c.rarely(2) { // the last subset takes the rest
		last, _ := subsets[1].(map[string]any)
		delete(last, "replicas")
	}
	spec["replicas"], spec["topology"] = all, map[string]any{"subsets": subsets}
}
