package plan

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// sidecarSet reads a SidecarSet (docs/kruise/sidecarset.md#selection). Its
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
		case !set.Chooses(p):
			s.left++
		case !set.Upgradable(p):
			stuck++
		}
	}
	if stuck > 0 {
		b.warning("%d of %d pods cannot take the new sidecars in place: they keep the old ones until they are recreated", stuck, len(matched))
	}
	if s.left > 0 {
		b.warning("updateStrategy.selector leaves %d of %d pods out: they keep the old sidecars%s", s.left, len(matched), afterwards(o))
	}
	if before, ok := b.present.Object.(*kruise.SidecarSet); ok {
		now := *set
		now.Spec = &before.Spec
		s.leftNow = now.LeftOut()
	}
	if _, ok := partitionOf(o); ok {
		total, reach := s.total, s.total-s.left
		s.allowed = func(v intstr.IntOrString) int { return max(reach-set.Keeps(&v, total), 0) }
		s.partition = inverse(reach, s.allowed)
		s.take = b.takes(set.Queue(), set.Ties, set.Placing().Of)
	}
	return s
}

// afterwards says what becomes of pods that the strategy's selector leaves out when they
// are made again (docs/kruise/sidecarset.md#which-pods-match).
func afterwards(o *kruise.SidecarSet) string {
	switch r := o.Spec.InjectionStrategy.Revision; {
	case o.Spec.InjectionStrategy.Paused:
		return ", and a new pod gets none"
	case r != nil && (r.RevisionName != nil || r.CustomVersion != nil):
		return "; a new pod gets those of injectionStrategy.revision"
	}
	return " until they are recreated: a new pod gets the new ones"
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
