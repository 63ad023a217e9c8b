package plan

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// sidecarSet reads a SidecarSet (semantics sidecarset-and-protection 3.4). Its
// total are the pods that it matches and has been injected into.
func (b *builder) sidecarSet(o *kruise.SidecarSet) subject {
	set := b.sidecarSetRules(o)
	matched := set.Matched()
	s := subject{total: len(matched), limits: Limits{Replicas: len(matched), MaxUnavailable: set.MaxUnavailable(len(matched))}}
	if len(b.snap.Pods) == 0 {
		s.total = int(statusOfSidecars(b.present.Object).MatchedPods)
		s.limits.Replicas, s.limits.MaxUnavailable = s.total, set.MaxUnavailable(s.total)
	}
	stuck := 0
	for _, p := range matched {
		switch {
		case set.Updated(p):
			s.updated++
		case !set.Upgradable(p):
			stuck++
		}
	}
	if stuck > 0 {
		b.warning("%d of %d pods cannot take the new sidecars in place: they keep the old ones until somebody recreates them", stuck, len(matched))
	}
	if _, ok := partitionOf(o); ok {
		total := s.total
		s.allowed = func(v intstr.IntOrString) int { return total - rules.Partition(&v, total) }
		s.partition = inverse(total, s.allowed)
		s.take = b.takes(set.Queue(), set.Ties, set.Placing().Of)
	}
	return s
}

// sidecarSetRules is the desired set as the rules will see it: its hash is one
// that no pod has unless the containers stay, and pods can be upgraded as long as
// nothing but images changes.
func (b *builder) sidecarSetRules(o *kruise.SidecarSet) *rules.SidecarSet {
	set := b.snap.sidecars(b.present, o)
	if b.changed {
		set.Hash = nobody
	}
	if b.plan.Change.Mode == rules.ModeNotAllowed {
		set.HashWithoutImage = nobody
	}
	return set
}

func statusOfSidecars(obj any) kruise.SidecarSetStatus {
	if o, ok := obj.(*kruise.SidecarSet); ok {
		return o.Status
	}
	return kruise.SidecarSetStatus{}
}
