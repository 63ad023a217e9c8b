package controller

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// revisedFields are the fields of a SidecarSet that make its revisions: what it
// puts into pods. Selectors and strategies do not count (semantics
// sidecarset-and-protection 2.12).
var revisedFields = []string{"containers", "imagePullSecrets", "initContainers", "patchPodMetadata", "volumes"}

// customVersion is stored beside them, as a label in a cluster.
const customVersion = "customVersion"

// syncSidecarRevision is [View.syncRevision] for a SidecarSet; it returns the
// name of the present revision, and drops the oldest beyond the limit.
func (v *View) syncSidecarRevision(pass *Pass, o *kruise.SidecarSet) string {
	w, only := *v.Workload, *v
	w.Template, only.Workload = revised(v.Workload.Template), &w
	only.Revisions = slices.Clone(v.Revisions)
	for i := range only.Revisions {
		only.Revisions[i].Template = revised(only.Revisions[i].Template)
	}
	update, all := only.syncRevision(pass, or(o.Status.CollisionCount, 0), "")
	for i, a := range pass.Actions {
		if store, ok := a.(StoreRevision); ok {
			store.Revision.Template = labelledRevision(store.Revision, v.Workload)
			pass.Actions[i] = store
		}
	}
	only.Pods = nil
	only.dropRevisions(pass, all, o.Spec.RevisionHistoryLimit, update.Name)
	return update.Name
}

// revised cuts a spec down to what revisions are made of; what is missing is
// null, as in the stored JSON.
func revised(spec map[string]any) map[string]any {
	out := make(map[string]any, len(revisedFields))
	for _, field := range revisedFields {
		out[field] = spec[field]
	}
	return out
}

func labelledRevision(r cluster.Revision, w *cluster.Workload) map[string]any {
	out := revised(r.Template)
	if version, ok := w.Template[customVersion]; ok {
		out[customVersion] = version
	}
	return out
}
