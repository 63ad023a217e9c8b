package inject

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// target holds a container's limits and requests, by list and name in one key
// (limitscpu …).
type target map[string]resource.Quantity

// targets returns the containers that a resourcesPolicy counts: the pod's
// native sidecars, then its containers, whose name matches, without every name
// that a selected SidecarSet declares.
func (in *injection) targets(regex *regexp.Regexp) ([]target, error) {
	declared := in.declared()
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

// declared are the names of all sidecars of the selected sets, and what an
// earlier run made of them.
func (in *injection) declared() map[string]bool {
	names := map[string]bool{}
	for _, set := range slices.Concat(in.sets, in.opt.Others) {
		for _, s := range set.all() {
			names[s.name] = true
		}
	}
	for name := range in.ours {
		names[name] = true
	}
	return names
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
