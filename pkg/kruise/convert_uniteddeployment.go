package kruise

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

var unitedDeploymentFields = []field{
	perSubset("status.subsetReplicas", "replicas"),
	perSubset("status.updateStatus.currentPartitions", "partition"),
	moved{"status", "updateStatus.updatedRevision", "updatedRevision"},
}

// perSubset is a number that v1alpha1 keeps in a mapping by subset, and
// v1beta1 in the subset's status. v1alpha1 has the statuses too.
func perSubset(mapping, field string) field {
	const statuses = "status.subsetStatuses"
	return special{
		func(c *conversion) {
			numbers := c.take(mapping)
			tree.Each(numbers, func(name, value *tree.Node) {
				if c.subsetStatus(name.Value) == nil {
					list := tree.Seq(append(tree.Items(c.get(statuses))[:0:0], tree.Items(c.get(statuses))...)...)
					list.Content = append(list.Content, tree.Map("name", name.Value))
					c.set(statuses, list)
				}
				c.each(statuses+"[]", func(s *tree.Node, _ string) {
					if tree.StrAt(s, "name") == name.Value && !tree.Has(s, field) {
						tree.Set(s, field, value)
					}
				})
			})
		},
		func(c *conversion) {
			numbers := tree.Map()
			for _, s := range tree.Items(c.get(statuses)) {
				if v := tree.Get(s, field); v != nil && tree.StrAt(s, "name") != "" {
					tree.Set(numbers, tree.StrAt(s, "name"), v)
				}
			}
			if len(numbers.Content) > 0 {
				c.set(mapping, numbers)
			}
		},
	}
}

func (c *conversion) subsetStatus(name string) *tree.Node {
	s, _ := tree.Find(c.get("status.subsetStatuses"), "name", name)
	return s
}
