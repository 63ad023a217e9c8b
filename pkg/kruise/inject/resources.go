package inject

import (
	"fmt"
	"regexp"
	"slices"

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
	// Sum or take the largest; all reports whether every target defines the value.
	var total resource.Quantity
	var all bool
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

	if list == "limits" && !all {
		return nil, nil //nolint:nilnil // unlimited
	}
	q, err := e.Evaluate(total)
	if err != nil {
		return nil, fmt.Errorf("resourcesPolicy: %s.%s: %w", list, name, err)
	}
	return &q, nil
}

// target holds a container's limits and requests, by list and name in one key
// (limitscpu …).
type target map[string]resource.Quantity

// targets returns the containers that a resourcesPolicy counts: the pod's
// native sidecars, then its containers, whose name matches, without every name
// that a selected SidecarSet declares.
func (in *injection) targets(regex *regexp.Regexp) ([]target, error) {
	// The names of all sidecars of the selected sets, and what an earlier run made of them.
	declared := map[string]bool{}
	for _, set := range slices.Concat(in.sets, in.opt.Others) {
		for _, s := range set.all() {
			declared[s.name] = true
		}
	}
	for name := range in.ours {
		declared[name] = true
	}

	var out []target
	for _, c := range in.inits {
		if tree.StrAt(c, "restartPolicy") == "Always" {
			out = in.appendTarget(out, c, regex, declared)
		}
	}
	for _, c := range in.containers {
		out = in.appendTarget(out, c, regex, declared)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("resourcesPolicy: no containers match the regex pattern %q", regex)
	}
	return out, nil
}

func (in *injection) appendTarget(out []target, c *tree.Node, regex *regexp.Regexp, declared map[string]bool) []target {
	name := tree.StrAt(c, "name")
	if declared[name] || !regex.MatchString(name) {
		return out
	}
	t := target{}
	for _, name := range resourceNames {
		limit, limited := quantityAt(c, "limits", name)
		request, requested := quantityAt(c, "requests", name)
		if limited && !requested {
			request, requested = limit, true
		}
		if d, ok := in.opt.Limits[name]; ok && !limited {
			limit, limited = d, true
		}
		if d, ok := in.opt.Requests[name]; ok && !requested {
			request, requested = d, true
		}
		if limited {
			t["limits"+name] = limit
		}
		if requested {
			t["requests"+name] = request
		}
	}
	return append(out, t)
}

// quantityAt reads one value of a container's resources. What cannot be read
// counts as not given: the API server refuses such a pod by itself.
func quantityAt(c *tree.Node, list, name string) (resource.Quantity, bool) {
	n := tree.Get(c, "resources", list, name)
	if n == nil {
		return resource.Quantity{}, false
	}
	q, err := tree.Quantity(tree.Str(n))
	return q, err == nil
}

// Excess is a request above its limit that a resourcesPolicy computes for a pod: the API
// server refuses the pod.
type Excess struct {
	// Set and Container name the SidecarSet and its container, Field is where the
	// expression of the request is in the set.
	Set, Container, Field string
	// Resource is cpu or memory; Request and Limit are quantities.
	Resource, Request, Limit string
}

// excesses compares what was computed for a sidecar; computed may be nil.
func excesses(set *Content, s *sidecar, computed *tree.Node) []Excess {
	if computed == nil {
		return nil
	}
	of := tree.Map("resources", computed)
	var out []Excess
	for _, name := range resourceNames {
		limit, limited := quantityAt(of, "limits", name)
		request, requested := quantityAt(of, "requests", name)
		if limited && requested && request.Cmp(limit) > 0 {
			out = append(out, Excess{
				Set: set.Set, Container: s.name, Field: s.field + ".resourcesPolicy.resourcesExpr.requests." + name,
				Resource: name, Request: request.String(), Limit: limit.String(),
			})
		}
	}
	return out
}
