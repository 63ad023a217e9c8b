package rules

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Ties groups the pods of an update order that Kruise treats alike: inside a
// group any pod may come in the place of any other. Groups of one are left out;
// pods of one group need not stand side by side, since scattering cuts through.
func (c *CloneSet) Ties(order []*cluster.Pod) [][]*cluster.Pod {
	rolling := c.rolling()
	return ties(order, rolling.PriorityStrategy, rolling.ScatterStrategy)
}

// Ties is [CloneSet.Ties] for the pods of a SidecarSet.
func (s *SidecarSet) Ties(order []*cluster.Pod) [][]*cluster.Pod {
	strategy := s.Spec.UpdateStrategy
	return ties(order, strategy.PriorityStrategy, everyValue(strategy.ScatterStrategy, order))
}

// tie is all that the order looks at; what Kruise treats alike is equal in it.
type tie struct {
	bound, ready, preparing   bool
	phase, restarts, sidecars int
	since, created, weight    int64
	key                       int
	number, terms             string
}

// ties costs no more than one look at each pod, however many groups there are.
func ties(order []*cluster.Pod, strategy *kruise.UpdatePriorityStrategy, terms []kruise.UpdateScatterTerm) [][]*cluster.Pod {
	of := priorities(order, strategy)
	size := make(map[tie]int, len(order))
	keys := make([]tie, len(order))
	for i, p := range order {
		keys[i] = tieOf(p, of[p], terms)
		size[keys[i]]++
	}
	var groups [][]*cluster.Pod
	at := map[tie]int{}
	for i, p := range order {
		k := keys[i]
		if size[k] == 1 {
			continue
		}
		if _, ok := at[k]; !ok {
			at[k] = len(groups)
			groups = append(groups, make([]*cluster.Pod, 0, size[k]))
		}
		groups[at[k]] = append(groups[at[k]], p)
	}
	return groups
}

func tieOf(p *cluster.Pod, place priority, terms []kruise.UpdateScatterTerm) tie {
	s := standingOf(p)
	k := tie{
		bound: s.bound, ready: s.ready, phase: s.phase, restarts: s.restarts, sidecars: s.sidecars, preparing: preparingUpdate(p),
		created: instant(p.Created), weight: int64(place.weight), key: place.key, number: place.number,
	}
	if s.ready {
		k.since = instant(s.since)
	}
	if len(terms) > 0 {
		k.terms = carried(p, terms)
	}
	return k
}

// carried is one letter per term: whether the pod has it.
func carried(p *cluster.Pod, terms []kruise.UpdateScatterTerm) string {
	out := make([]byte, len(terms))
	for i, t := range terms {
		out[i] = 'n'
		if carries(t)(p) {
			out[i] = 'y'
		}
	}
	return string(out)
}

// instant makes times comparable whatever their zone; none is one of its own.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
