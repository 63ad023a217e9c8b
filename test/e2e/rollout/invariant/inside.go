package invariant

import (
	"slices"
	"strings"
)

// Inside says: operators ask for no write outside of the workload, its record and Lease, what
// their driver does to pods, containers that restart, and Events.
func Inside(l Log, r *Rollout) (wrong []string) {
	for i := range l {
		if w := &l[i]; w.By != "" && !r.inside(w) {
			wrong = append(wrong, "outside of the rollout: "+w.String())
		}
	}
	return wrong
}

func (r *Rollout) inside(w *Write) bool {
	switch w.Resource {
	case "events", "selfsubjectaccessreviews", "selfsubjectrulesreviews":
		return w.Verb == "create" || w.Resource == "events" && w.Verb == "patch"
	case "configmaps", "leases":
		// One that is being created has no name in the request's path, nor where it is refused.
		return slices.Contains([]string{"create", "update", "patch"}, w.Verb) && (w.Name == r.State || w.Verb == "create" && w.Name == "")
	case "containerrecreaterequests":
		return w.Verb == "create" || w.Verb == "delete"
	case "pods":
		evicts, patches := w.Verb == "create" && w.Subresource == "eviction", w.Verb == "patch" && w.Subresource != "status"
		return r.client() && (evicts || patches || w.Verb == "patch" && readiness(w.Body))
	case r.Resource:
		return w.Verb == "patch" && w.Name == r.Name && w.Subresource == ""
	}
	return false
}

// readiness reports whether a patch of a pod's status only sets the gates that readiness
// waits for, which Kruise's controllers would do.
func readiness(body any) bool {
	list, _ := at(body, "status", "conditions").([]any)
	for _, c := range list {
		if !strings.HasSuffix(Text(c, "type"), "Ready") {
			return false
		}
	}
	return len(list) > 0
}
