package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type statefulSetKind struct {
	kruised
	templated
	o *kruise.StatefulSet
}

func (kinds) StatefulSet(o *kruise.StatefulSet) kind {
	return statefulSetKind{templated: templated{o}, o: o}
}

func (k statefulSetKind) subject(b *builder) subject { return b.statefulSet(&k.o.Spec) }

func (k statefulSetKind) restarted(any) kruiseSpec {
	spec := k.o.Spec
	spec.UpdateStrategy.RollingUpdate = copied(spec.UpdateStrategy.RollingUpdate)
	spec.UpdateStrategy.RollingUpdate.Partition = nil
	return statefulSetSpec{&spec}
}

func (k statefulSetKind) carrying(*run) func(*cluster.Pod) bool {
	return atRevision(k.o.Status.UpdateRevision)
}

func (k statefulSetKind) choice(b *builder, now time.Time, _ bool) rules.Choice {
	set := &rules.StatefulSet{Spec: &k.o.Spec, Current: k.o.Status.CurrentRevision, Update: b.updateRevision(), Pods: b.snap.Pods, Gates: b.snap.Gates, Now: now}
	return set.ChooseUpdate().Choice
}

func (k statefulSetKind) stepPending(r *run) rules.Pending {
	set := rules.StatefulSet{Spec: &k.o.Spec, Update: k.o.Status.UpdateRevision, Pods: r.snap.Pods, Gates: r.snap.Gates}
	return rules.StatefulSetStepPending(k.o, set.Kept())
}

func (k statefulSetKind) rolloutPending(*run) rules.Pending { return rules.StatefulSetPending(k.o) }

func (k statefulSetKind) stop(r *run) (StopField, string) {
	if !subsetOf(k.o) || rules.PausedOf(k.o) {
		return pausedUnlessSo(k.o)
	}
	updated := atObserved(k.o, k.o.Status.UpdateRevision)
	ordinals := (&rules.StatefulSet{Spec: &k.o.Spec}).Ordinals()
	kept := r.keptBelow(ordinals, updated)
	if ru := k.o.Spec.UpdateStrategy.RollingUpdate; ru != nil && ru.UnorderedUpdate != nil {
		kept = min(r.old(updated), len(ordinals))
	}
	return stopAt(k.o, kept, len(ordinals))
}

func (statefulSetKind) surges() bool { return false }

func (k statefulSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return names("unorderedUpdate", r.UnorderedUpdate != nil, "", false)
}

// statefulSetSpec has the client keep the rules of an Advanced StatefulSet.
type statefulSetSpec struct{ *kruise.StatefulSetSpec }

func (s statefulSetSpec) subject(b *builder) subject { return b.statefulSet(s.StatefulSetSpec) }

func (s statefulSetSpec) inPlace() *kruise.InPlaceUpdateStrategy {
	return s.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy
}

func (s statefulSetSpec) lifecycle() *kruise.Lifecycle { return s.Lifecycle }

func (s statefulSetSpec) order(b *builder) []*cluster.Pod {
	set := &rules.StatefulSet{Spec: s.StatefulSetSpec, Update: nobody, Pods: b.snap.Pods, Gates: b.snap.Gates}
	return set.UpdateTargets()
}

func (s statefulSetSpec) picks(c *client) ([]*cluster.Pod, string) {
	return c.pickStateful(*s.StatefulSetSpec)
}

// taken are those that the order takes: pods below the partition may carry the
// revision, too, after the template was taken back.
func (s statefulSetSpec) taken(r *run, updated int) []*cluster.Pod {
	return r.stateful(*s.StatefulSetSpec, updated).UpdateTargets()
}
