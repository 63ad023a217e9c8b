package kruise

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const subsetStatuses = "status.subsetStatuses"

var unitedDeploymentFields = []field{
	perSubset("status.subsetReplicas", "replicas"),
	perSubset("status.updateStatus.currentPartitions", "partition"),
	moved{"status", "updateStatus.updatedRevision", "updatedRevision"},
	special{dropEmptyUpdateStatus, func(*conversion) {}},
}

// perSubset is a number that v1alpha1 keeps in a mapping by subset, and
// v1beta1 in the subset's status. v1alpha1 has the statuses too.
func perSubset(mapping, field string) field {
	return special{
		func(c *conversion) {
			numbers := c.take(mapping)
			tree.Each(numbers, func(name, value *tree.Node) {
				c.ensureSubset(name.Value)
				c.each(subsetStatuses+"[]", func(s *tree.Node, _ string) {
					if tree.StrAt(s, "name") == name.Value && !tree.Has(s, field) {
						tree.Set(s, field, value)
					}
				})
			})
		},
		func(c *conversion) {
			numbers := tree.Map()
			for _, s := range tree.Items(c.get(subsetStatuses)) {
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

// dropEmptyUpdateStatus removes what said nothing from the beginning.
func dropEmptyUpdateStatus(c *conversion) {
	if v := c.get("status.updateStatus"); v != nil && empty(v) {
		c.take("status.updateStatus")
	}
}

// ensureSubset makes a status for the subset where there is none.
func (c *conversion) ensureSubset(name string) {
	list := c.get(subsetStatuses)
	if s, _ := tree.Find(list, "name", name); s == nil {
		c.set(subsetStatuses, tree.Seq(append(slices.Clone(tree.Items(list)), tree.Map("name", name))...))
	}
}
