package plan

import (
	"bytes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// inForce reports whether an object has what a patch of ours writes: sending it
// would change nothing.
func inForce(p *Patch, w *cluster.Workload) bool {
	spec, err := specOf(w, versionOf(w))
	if err != nil {
		return false
	}
	doc := map[string]any{"spec": spec}
	switch body := p.Body.(type) {
	case map[string]any:
		return merged(doc, body)
	case []any:
		for _, op := range body {
			if m, ok := op.(map[string]any); !ok || !carriedOut(doc, m) {
				return false
			}
		}
		return true
	}
	return false
}

// merged reports whether a merge patch would change nothing. What is false may be
// left out.
func merged(doc, patch any) bool {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch == nil && doc == nil || patch == false && doc == nil || alike(doc, patch)
	}
	d, ok := doc.(map[string]any)
	if !ok && doc != nil {
		return false
	}
	for key, v := range p {
		if !merged(d[key], v) {
			return false
		}
	}
	return true
}

// carriedOut reports whether one operation of a JSON patch has been carried out.
func carriedOut(doc any, op map[string]any) bool {
	path, _ := op["path"].(string)
	have := pointed(doc, path)
	switch op["op"] {
	case "test":
		return true
	case "remove":
		return have == nil
	}
	return written(have, op["value"])
}

// written reports whether doc has what was written there. The API server may have
// added defaults since: a native StatefulSet that was given a partition comes back with
// maxUnavailable, too.
func written(doc, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		d, ok := doc.(map[string]any)
		for key, below := range v {
			ok = ok && written(d[key], below)
		}
		return ok
	case []any:
		d, ok := doc.([]any)
		ok = ok && len(d) == len(v)
		for i := range v {
			ok = ok && written(d[i], v[i])
		}
		return ok
	}
	return alike(doc, v)
}

// pointed follows a JSON pointer; nil where there is nothing.
func pointed(v any, pointer string) any {
	return tree.Lookup(v, tree.PointerSteps(pointer))
}

// alike compares decoded JSON however it was decoded. Nulls do not count.
func alike(a, b any) bool { return bytes.Equal(canonical(nil, a), canonical(nil, b)) }
