package controller

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

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
	fields := rules.SidecarSetFields()
	out := make(map[string]any, len(fields))
	for _, field := range fields {
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
