package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// standing is what the default comparator looks at, read once per pod.
type standing struct {
	pod      *cluster.Pod
	bound    bool
	phase    int
	ready    bool
	since    time.Time
	restarts int
	sidecars int
}

func standingOf(p *cluster.Pod) standing {
	s := standing{pod: p, bound: p.Node != "", phase: phaseRank(p.Phase)}
	if p.IsReady() {
		s.ready, s.since = true, p.ReadySince()
	}
	for _, c := range p.Containers {
		s.restarts = max(s.restarts, c.Restarts)
	}
	for _, c := range p.InitContainers {
		if c.Native {
			s.sidecars = max(s.sidecars, c.Restarts)
		}
	}
	return s
}

func standings(list []*cluster.Pod) []standing {
	out := make([]standing, len(list))
	for i, p := range list {
		out[i] = standingOf(p)
	}
	return out
}

// compare orders pods by how little is lost with them: unassigned first, then
// Pending, Unknown, Running, then not ready, the most recently ready, the most
// restarts, the newest. 0 means that Kruise leaves the order open
// (docs/kruise/workloads.md#update-order).
func (s standing) compare(o standing) int {
	return cmp.Or(
		falseFirst(s.bound, o.bound),
		cmp.Compare(s.phase, o.phase),
		falseFirst(s.ready, o.ready),
		s.compareAge(o),
	)
}

// compareAge is the second half of the comparator, which scale-down has after
// its own rules.
func (s standing) compareAge(o standing) int {
	if s.ready && o.ready {
		if c := o.since.Compare(s.since); c != 0 {
			return c
		}
	}
	return cmp.Or(
		cmp.Compare(o.restarts, s.restarts),
		cmp.Compare(o.sidecars, s.sidecars),
		o.pod.Created.Compare(s.pod.Created),
	)
}

// byName is the last word where the comparator has none, so that an answer does
// not depend on the order of the question.
func byName(a, b *cluster.Pod) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
}

// inOrder returns the pods in the default order; the input is not touched.
func inOrder(list []*cluster.Pod) []*cluster.Pod {
	all := standings(list)
	slices.SortFunc(all, func(a, b standing) int {
		if c := a.compare(b); c != 0 {
			return c
		}
		return byName(a.pod, b.pod)
	})
	return bare(all)
}

func bare(all []standing) []*cluster.Pod {
	out := make([]*cluster.Pod, len(all))
	for i, s := range all {
		out[i] = s.pod
	}
	return out
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
