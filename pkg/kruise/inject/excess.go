package inject

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

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
