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
	o.injections.renew(o.ref.Name, &s.all)
	sum := 0
	for owner := range o.injections.byOwner {
		if owner != nil && s.objects[owner.ref] == owner && owner.workload != nil && owner.ref.Kind != kruise.KindSidecarSet {
			sum += s.wanted(owner)
		}
	}
	if sum == 0 {
		sum = o.injections.pods
	}
	return sum
}

func injected(p *cluster.Pod, set string) bool {
	return slices.Contains(strings.Split(p.Annotations[kruise.SidecarSetInjectedListAnnotation], ","), set)
}

// injections are the pods that have the containers of a SidecarSet. They are kept from one question
// to the next, so that only pods that have changed are read again. The zero value has read nothing.
type injections struct {
	mark cluster.Mark[int]
	// places are those of the list of pods.
	places []injection
	// pods counts them, byOwner only those of an owner, nil where there is none.
	pods    int
	byOwner map[*object]int
}

// injection is what is remembered of the pod at one place of the list.
type injection struct {
	owner *object
	has   bool
}

// renew reads what has changed in the list of all pods.
func (n *injections) renew(set string, all *podList) {
	changes, known := n.mark.Since(&all.changes)
	if !known {
		*n = injections{mark: n.mark, byOwner: map[*object]int{}}
	}
	for i := len(all.pods); i < len(n.places); i++ {
		n.note(i, injection{})
	}
	before := min(len(n.places), len(all.pods))
	n.places = append(n.places[:before], make([]injection, len(all.pods)-before)...)
	for i := before; i < len(all.pods); i++ {
		n.note(i, injectionOf(set, all, i))
	}
	for _, i := range changes {
		if i < before {
			n.note(i, injectionOf(set, all, i))
		}
	}
}

func injectionOf(set string, all *podList, place int) injection {
	return injection{owner: all.pods[place].owner, has: injected(all.now[place], set)}
}

// note replaces what is remembered of a place.
func (n *injections) note(place int, now injection) {
	if was := n.places[place]; was.has {
		n.pods--
		if n.byOwner[was.owner]--; n.byOwner[was.owner] == 0 {
			delete(n.byOwner, was.owner)
		}
	}
	if n.places[place] = now; now.has {
		n.pods++
		n.byOwner[now.owner]++
	}
}
