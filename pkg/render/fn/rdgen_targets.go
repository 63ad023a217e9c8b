package fn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const selectorPath = "targets.namespaceLabelSelector.matchExpressions"

// checkTargets wants at least one target; an explicit empty list is one.
func (c settings) checkTargets(config *tree.Node) error {
	t := c.Targets
	if !t.All && t.Included == nil && t.Excluded == nil && t.Selector == nil {
		return tree.Errorf(config, "targets", "give allNamespaces, includedNamespaces or namespaceLabelSelector",
			"the targets field of the ResourceDistribution cannot be empty")
	}
	if t.Selector == nil {
		return nil
	}
	var errs []error
	for i, r := range t.Selector.MatchExpressions {
		if msg := r.fault(); msg != "" {
			errs = append(errs, tree.Errorf(config, fmt.Sprintf("%s[%d]", selectorPath, i), "", "%s", msg))
		}
	}
	return errors.Join(errs...)
}

func (r requirement) fault() string {
	const field = "the field ResourceDistribution." + selectorPath + "."
	switch {
	case r.Key == "":
		return field + "key cannot be empty"
	case !slices.Contains([]string{"In", "NotIn", "Exists", "DoesNotExist"}, r.Operator):
		return field + "operator is invalid"
	case strings.HasSuffix(r.Operator, "In") && len(r.Values) == 0:
		return field + "values for In and NotIn cannot be empty"
	case !strings.HasSuffix(r.Operator, "In") && len(r.Values) > 0:
		return field + "values for Exist and DoesNotExist must be empty"
	}
	const element = "the element of field ResourceDistribution." + selectorPath + ".values "
	for i, v := range r.Values {
		if len(validation.IsValidLabelValue(v)) > 0 {
			return element + "is invalid"
		}
		if slices.Contains(r.Values[:i], v) {
			return element + "cannot be repeated"
		}
	}
	return ""
}

func (c settings) targets(config *tree.Node) *tree.Node {
	t, out := c.Targets, tree.Map()
	if t.All {
		tree.Set(out, "allNamespaces", tree.Boolean(true))
	}
	if t.Excluded != nil {
		tree.Set(out, "excludedNamespaces", namespaceList(t.Excluded))
	}
	if t.Included != nil {
		tree.Set(out, "includedNamespaces", namespaceList(t.Included))
	}
	if t.Selector != nil {
		labels := tree.Get(config, "targets", "namespaceLabelSelector", "matchLabels")
		tree.Set(out, "namespaceLabelSelector", t.Selector.node(labels))
	}
	return out
}

func namespaceList(names []string) *tree.Node {
	list := tree.Seq()
	for _, name := range names {
		list.Content = append(list.Content, tree.Map("name", name))
	}
	return tree.Map("list", list)
}

// node writes the selector with expressions by key and their values sorted.
func (s labelSelector) node(matchLabels *tree.Node) *tree.Node {
	out := tree.Map()
	expressions := slices.Clone(s.MatchExpressions)
	slices.SortStableFunc(expressions, func(a, b requirement) int { return strings.Compare(a.Key, b.Key) })
	list := tree.Seq()
	for _, r := range expressions {
		item := tree.Map("key", r.Key, "operator", r.Operator)
		if len(r.Values) > 0 {
			values := tree.Seq()
			for _, v := range slices.Sorted(slices.Values(r.Values)) {
				values.Content = append(values.Content, tree.String(v))
			}
			tree.Set(item, "values", values)
		}
		list.Content = append(list.Content, item)
	}
	if len(list.Content) > 0 {
		tree.Set(out, "matchExpressions", list)
	}
	if labels := textMap(matchLabels); labels != nil {
		tree.Set(out, "matchLabels", labels)
	}
	return out
}
