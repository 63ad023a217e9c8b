package simulate

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// wanted is how many pods there should be. A SidecarSet wants those of the
// workloads whose pods it is in, and where none of these is known, the pods.
func (s *store) wanted(o *object) int {
	t := cluster.Of(o.workload.Object)
	if n, ok := t.Replicas(); ok {
		return n
	}
	if n, ok := t.Scheduled(); ok {
		return n
	}
	sum, pods, owners := 0, 0, map[*object]bool{}
	var last *object // most pods have the owner of the one before
	for i, has := range cluster.Each(&o.answers, "injected", s.all.now, func(p *cluster.Pod) bool { return injected(p, o.ref.Name) }) {
		if !has {
			continue
		}
		pods++
		owner := s.all.pods[i].owner
		if owner == nil || owner == last || owners[owner] {
			continue
		}
		last, owners[owner] = owner, true
		if s.objects[owner.ref] == owner && owner.workload != nil && owner.ref.Kind != kruise.KindSidecarSet {
			sum += s.wanted(owner)
		}
	}
	if sum == 0 {
		return pods
	}
	return sum
}

func injected(p *cluster.Pod, set string) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), set)
}
