package plan

import (
	"encoding/json"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type sidecarSetKind struct {
	kruiseKind
	o *kruise.SidecarSet
}

func (kinds) SidecarSet(o *kruise.SidecarSet) kind { return sidecarSetKind{kruiseKind{anyKind{o}}, o} }

// subject reads a SidecarSet (docs/kruise/sidecarset.md#selection). Its
// total are the pods that it matches and has been injected into.
func (k sidecarSetKind) subject(b *comparison) subject {
	o := k.o
	set := b.sidecarSetRules(o)
	matched := set.Matched()
	s := subject{total: len(matched), limits: Limits{Replicas: len(matched), MaxUnavailable: set.MaxUnavailable(len(matched))}}
	before, isSet := b.present.Object.(*kruise.SidecarSet)
	if len(b.snap.Pods) == 0 && isSet {
		s.total = int(before.Status.MatchedPods)
		s.limits.Replicas, s.limits.MaxUnavailable = s.total, set.MaxUnavailable(s.total)
	}
	stuck := 0
	for _, p := range matched {
		switch {
		case set.Updated(p):
			s.updated++
		case !set.Chooses(p):
			s.leftOut++
		case !set.Upgradable(p):
			stuck++
		}
	}
	if stuck > 0 {
		b.warning("%d of %s cannot take the new sidecars in place: they keep the old ones until they are recreated", stuck, counted.Of(len(matched), "pod"))
	}
	if s.leftOut > 0 {
		b.warning("updateStrategy.selector leaves %d of %s out: they keep the old sidecars%s", s.leftOut, counted.Of(len(matched), "pod"), newPodsNote(o))
	}
	if isSet {
		now := *set
		now.Spec = &before.Spec
		s.leftOutNow = now.LeftOut()
	}
	if _, ok := cluster.Of(o).Partition(); ok {
		s.partition, s.order = sidecarSetPartition{set, s.total, s.total - s.leftOut}, set.Queue()
	}
	return s
}

// sidecarSetPartition is the partition of a SidecarSet; its strategy's selector lets it reach fewer
// pods than it counts.
type sidecarSetPartition struct {
	set          *rules.SidecarSet
	total, reach int
}

func (p sidecarSetPartition) allowed(v intstr.IntOrString) int {
	return max(p.reach-p.set.Keeps(&v, p.total), 0)
}

// newPodsNote reports which sidecars pods get that the strategy's selector leaves out when they
// are recreated (docs/kruise/sidecarset.md#which-pods-match).
func newPodsNote(o *kruise.SidecarSet) string {
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
func (b *comparison) sidecarSetRules(o *kruise.SidecarSet) *rules.SidecarSet {
	set := b.snap.sidecarSetRules(b.present, o)
	if b.templateChanged {
		set.Hash = unstoredRevision
	}
	if b.plan.Change.Mode == rules.ModeNotAllowed {
		set.HashWithoutImage = unstoredRevision
	}
	return set
}

func (k sidecarSetKind) memberTest(s *Snapshot) func(*cluster.Pod) bool {
	return s.sidecarSetRules(s.Object(), k.o).Matches()
}

func (k sidecarSetKind) updatedTest(r *rollout) func(*cluster.Pod) bool {
	set := &rules.SidecarSet{Name: k.o.Name, Hash: r.object().Annotations[kruise.SidecarSetHashAnnotation]}
	return set.Updated
}

func (k sidecarSetKind) choice(b *comparison, _ time.Time, brief bool) rules.Choice {
	set := b.sidecarSetRules(k.o)
	set.Brief = brief
	return set.ChooseUpdate().Choice
}

func (k sidecarSetKind) stepPending(r *rollout) rules.Pending {
	set := r.snap.sidecarSetRules(r.object(), k.o)
	set.Answers = r.snap.Answers
	return set.Pending(k.o)
}

func (k sidecarSetKind) stop(*rollout) (StopField, string) { return stopByPause(k.o) }

// revised are the fields that come into pods, so that another partition is no other
// template.
func (sidecarSetKind) revised(template map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range rules.SidecarSetFields() {
		if v, ok := template[field]; ok && v != nil {
			out[field] = v
		}
	}
	return out
}

// withTemplate puts the fields that come into pods into the present spec.
func (k sidecarSetKind) withTemplate(whole, stored map[string]any) (map[string]any, any, error) {
	out := maps.Clone(whole)
	for _, field := range rules.SidecarSetFields() {
		delete(out, field)
		if v, ok := stored[field]; ok && v != nil {
			out[field] = v
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, nil, err
	}
	c := *k.o
	c.Spec = kruise.SidecarSetSpec{}
	return out, &c, json.Unmarshal(text, &c.Spec)
}

// matches are the pods of the snapshot that are a workload's: a SidecarSet's include those that it no
// longer counts since they lack a container that it has now. blocked is what keeps pods of a SidecarSet from
// ever being upgraded (docs/kruise/sidecarset.md#matched-pods and
// docs/kruise/sidecarset.md#what-can-change-in-place).
func (b *comparison) matches() (matches map[*cluster.Pod]bool, blocked map[*cluster.Pod]string) {
	matches, blocked = map[*cluster.Pod]bool{}, map[*cluster.Pod]string{}
	o, ok := b.present.Object.(*kruise.SidecarSet)
	if !ok {
		for _, p := range b.snap.Pods {
			matches[p] = true
		}
		return matches, nil
	}
	set := b.sidecarSetRules(o)
	selects, counts := set.Selects(), set.Matches()
	for _, p := range b.snap.Pods {
		matches[p] = selects(p) && set.Listed(p)
		switch {
		case !counts(p):
			blocked[p] = "the set does not count it: its labels or namespace do not match, or it lacks containers that the set has now"
		case !set.Upgradable(p):
			blocked[p] = "the sidecars changed in more than images since the pod was created, and only images can change in place"
		}
	}
	return matches, blocked
}
