package ui

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/survey"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// sidecars sets all SidecarSets against the workloads that are looked at, once a round,
// for whoever wants them; nil before anything has been loaded.
func (f *fleet) sidecars(now time.Time) *world.Sidecars {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == f.rounds {
		return f.matrix
	}
	owners := map[string]cluster.Ref{}
	for ref, s := range f.sights {
		if ref.Kind == kruise.KindSidecarSet {
			continue
		}
		for _, p := range s.Pods {
			owners[p.UID] = ref
		}
	}
	var sets []diagnose.Question
	for _, s := range f.SidecarSets() {
		if q, err := question(s, now); err == nil {
			sets = append(sets, q)
		}
	}
	f.matrix = survey.Sidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
	f.asked = f.rounds
	return f.matrix
}
