package inject

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// resourcesPolicy computes a sidecar's resources from those of other
// containers (docs/kruise/sidecarset.md#resources-policy).
type resourcesPolicy struct {
	largest bool // max; else sum
	regex   *regexp.Regexp
	// expressions by list (limits, requests) and resource (cpu, memory); nil
	// where none is given.
	expressions map[string]map[string]*Expression
}

var (
	resourceLists = []string{"limits", "requests"}
	resourceNames = []string{"cpu", "memory"}
)

// compileResources reads resourcesPolicy; path leads to it, for errors.
func compileResources(n *tree.Node) (*resourcesPolicy, error) {
	if n == nil {
		return nil, nil //nolint:nilnil // no policy is no error
	}
	p := &resourcesPolicy{expressions: map[string]map[string]*Expression{}}
	switch mode := tree.StrAt(n, "targetContainersMode"); mode {
	case "sum":
	case "max":
		p.largest = true
	default:
		return nil, tree.Errorf(n, "targetContainersMode", "", "want sum or max, got %q", mode)
	}
	pattern := ".*"
	if r := tree.Get(n, "targetContainersNameRegex"); r != nil {
		pattern = tree.Str(r)
	}
	var err error
	if p.regex, err = regexp.Compile(pattern); err != nil {
		return nil, tree.Errorf(n, "targetContainersNameRegex", "", "%v", err)
	}
	for _, list := range resourceLists {
		p.expressions[list] = map[string]*Expression{}
		for _, name := range resourceNames {
			text := tree.StrAt(n, "resourcesExpr", list, name)
			if text == "" {
				continue
			}
			if p.expressions[list][name], err = ParseExpression(text, name); err != nil {
				return nil, tree.Errorf(n, "resourcesExpr."+list+"."+name, "", "%v", err)
			}
		}
	}
	return p, nil
}

// resources returns the sidecar's resources for this pod; nil when nothing is
// to be written.
func (p *resourcesPolicy) resources(in *injection) (*tree.Node, error) {
	targets, err := in.targets(p.regex)
	if err != nil {
		return nil, err
	}
	out := tree.Map()
	for _, list := range resourceLists {
		values := tree.Map()
		for _, name := range resourceNames {
			q, err := p.compute(targets, list, name)
			if err != nil {
				return nil, err
			}
			if q != nil {
				tree.Set(values, name, tree.String(q.String()))
			}
		}
		if len(values.Content) > 0 {
			tree.Set(out, list, values)
		}
	}
	if len(out.Content) == 0 {
		return nil, nil //nolint:nilnil // resources are then not written at all
	}
	return out, nil
}

// compute evaluates one expression; nil means that the value stays unset.
func (p *resourcesPolicy) compute(targets []target, list, name string) (*resource.Quantity, error) {
	e := p.expressions[list][name]
	if e == nil {
		return nil, nil //nolint:nilnil // no expression, no value
	}
	total, all := p.aggregate(targets, list, name)
	if list == "limits" && !all {
		return nil, nil //nolint:nilnil // unlimited
	}
	q, err := e.Evaluate(total)
	if err != nil {
		return nil, fmt.Errorf("resourcesPolicy: %s.%s: %w", list, name, err)
	}
	return &q, nil
}

// aggregate sums or takes the largest; all reports whether every target
// defines the value.
func (p *resourcesPolicy) aggregate(targets []target, list, name string) (total resource.Quantity, all bool) {
	all = true
	for _, t := range targets {
		q, ok := t[list+name]
		switch {
		case !ok:
			all = false
		case !p.largest:
			total.Add(q)
		case q.Cmp(total) > 0:
			total = q.DeepCopy()
		}
	}
	return total, all
}
