package plan

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Members are the pods that the workload counts in its status. They are all pods of a
// snapshot but for a SidecarSet, which is handed every pod that its labels may match and
// counts those in its namespaces that have its containers (docs/kruise/sidecarset.md#matched-pods).
func (s *Snapshot) Members() []*cluster.Pod {
	w := s.Object()
	if w == nil || w.Object == nil {
		return s.Pods
	}
	return kindOf(w.Object).members(s)
}

// sidecars is a SidecarSet as the rules see it, with the pods and the namespaces of the
// snapshot.
func (s *Snapshot) sidecars(w *cluster.Workload, o *kruise.SidecarSet) *rules.SidecarSet {
	set := controller.SidecarSetRules(w, o, s.Gates.Release)
	set.Namespaces, set.Pods = s.Namespaces, s.Pods
	return set
}

func (kruised) members(s *Snapshot) []*cluster.Pod { return s.Pods }
func (native) members(s *Snapshot) []*cluster.Pod  { return s.Pods }

func (k sidecarSetKind) members(s *Snapshot) []*cluster.Pod {
	return s.sidecars(s.Object(), k.o).Matched()
}
