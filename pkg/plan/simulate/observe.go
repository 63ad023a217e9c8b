package simulate

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Snapshot returns what is known of a workload now. It may be kept: it never
// changes.
func (w *World) Snapshot(ref cluster.Ref) (plan.Snapshot, error) {
	o, err := w.lookup(ref)
	if err != nil {
		return plan.Snapshot{}, err
	}
	pods := slices.Clone(w.podsOf(o))
	s := plan.Snapshot{
		Version: w.versionOf(o), Workload: o.workload, Revisions: slices.Clone(w.revisionsOf(o)), Pods: pods,
		Nodes: w.lend(), Namespaces: w.namespaces, Gates: w.opt.Gates, Reports: maps.Clone(w.reports),
		Pulled: w.pulledBy(o, pods), Pulling: maps.Clone(o.pulling), Pulls: o.pulls, Verified: w.answers(o), Progress: o.progress, Base: o.base,
	}
	if o.carrier != nil {
		s.Carrier, s.Revisions = o.carrier.workload, slices.Clone(w.revisionsOf(o.carrier))
	}
	for _, g := range w.guards {
		view := w.guardView(g)
		view.Reports = s.Reports
		if b := view.Rules(); w.concerns(o, b.Pods) {
			b.Rendered = g.rendered
			s.Budgets = append(s.Budgets, b)
		}
	}
	for _, d := range w.disruptions {
		if b := w.disruptionView(d).Rules(); w.concerns(o, b.Pods) {
			s.Disruptions = append(s.Disruptions, b)
		}
	}
	return s, nil
}

// concerns reports whether one of a budget's pods is the object's.
func (w *World) concerns(o *object, budget []*cluster.Pod) bool {
	return slices.ContainsFunc(budget, func(p *cluster.Pod) bool {
		e := w.pods[p.UID]
		switch {
		case o.ref.Kind == kruise.KindSidecarSet:
			return true
		case e == nil || e.owner == nil:
			return false
		}
		return e.owner == o || e.owner.parent == o || e.owner.shadow == o
	})
}

// revisionsOf are the stored templates; those of a Deployment are its
// ReplicaSets.
func (w *World) revisionsOf(o *object) []cluster.Revision {
	if o.ref.Kind != kruise.KindDeployment {
		return o.revisions
	}
	var out []cluster.Revision
	for _, child := range o.children {
		out = append(out, ofReplicaSet(child.workload))
	}
	return out
}

func ofReplicaSet(rs *cluster.Workload) cluster.Revision {
	n, _ := strconv.ParseInt(rs.Annotations[cluster.DeploymentRevisionAnnotation], 10, 64)
	return cluster.Revision{Name: rs.Name, Number: n, Template: withoutHash(rs.Template)}
}

// versionOf changes whenever the snapshot does.
func (w *World) versionOf(o *object) string {
	return strconv.FormatUint(o.version, 36) + "." + strconv.FormatUint(w.version, 36)
}
