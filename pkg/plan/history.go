package plan

import (
	"cmp"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Past is one stored template of a workload.
type Past struct {
	cluster.Revision
	// Present is the one that the workload has now.
	Present bool
	// First is the oldest on record: what it changed is not known.
	First bool
	// Pods is how many carry it.
	Pods int
	// Changed is what it changed of the one before.
	Changed rules.Eligibility
}

// Revisions are the stored templates of a workload, the oldest first.
func Revisions(s Snapshot) []cluster.Revision {
	list := slices.Clone(s.Revisions)
	slices.SortStableFunc(list, func(a, b cluster.Revision) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// History are the stored templates, the oldest first, each with what it changed.
func History(s Snapshot) []Past {
	w, list := s.Object(), Revisions(s)
	present, _ := rules.FindRevision(list, w.Template)
	out, pods := make([]Past, len(list)), s.Members()
	for i, r := range list {
		out[i] = Past{Revision: r, Present: r.Name == present.Name, First: i == 0}
		for _, p := range pods {
			if rules.Active(p) && MadeFrom(w, p, r) {
				out[i].Pods++
			}
		}
		if i > 0 {
			out[i].Changed = Between(s, list[i-1], r)
		}
	}
	return out
}

// Between says what a change from one stored template to another does to pods.
func Between(s Snapshot, from, to cluster.Revision) rules.Eligibility {
	o := s.Object().Object
	return rules.Change(
		&cluster.Workload{Object: o, Template: from.Template}, &cluster.Workload{Object: o, Template: to.Template},
		rules.PolicyOf(o), s.Gates,
	)
}

// MadeFrom reports whether a pod was made from, or updated to, a revision.
func MadeFrom(w *cluster.Workload, p *cluster.Pod, r cluster.Revision) bool {
	if w.Kind == kruise.KindDeployment {
		return p.Owner.Name == r.Name
	}
	return rules.AtRevision(p, r.Name)
}
