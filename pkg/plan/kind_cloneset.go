package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type cloneSetKind struct {
	kruised
	templated
	o *kruise.CloneSet
}

func (kinds) CloneSet(o *kruise.CloneSet) kind { return cloneSetKind{templated: templated{o}, o: o} }

func (k cloneSetKind) subject(b *builder) subject { return b.cloneSet(&k.o.Spec) }

func (k cloneSetKind) restarted(any) kruiseSpec {
	return cloneSetSpec{cloneSource(&k.o.Spec, k.o.Spec.Replicas)}
}

func (k cloneSetKind) carrying(*run) func(*cluster.Pod) bool {
	return atRevision(k.o.Status.UpdateRevision)
}

func (k cloneSetKind) choice(b *builder, now time.Time, brief bool) rules.Choice {
	set := b.cloneSetRules(&k.o.Spec)
	set.Current, set.Now = k.o.Status.CurrentRevision, now
	if brief {
		return set.TakeUpdate()
	}
	return set.ChooseUpdate()
}

// mostNext is the limit of pods of the target revision that are not available yet.
func (k cloneSetKind) mostNext(b *builder) int {
	l := rules.LimitsOfCloneSet(&k.o.Spec)
	return max(l.MaxUnavailable+len(b.snap.Pods)-l.Replicas, 0)
}

func (k cloneSetKind) stepPending(*run) rules.Pending    { return rules.CloneSetStepPending(k.o) }
func (k cloneSetKind) rolloutPending(*run) rules.Pending { return rules.CloneSetPending(k.o) }

func (k cloneSetKind) stop(r *run) (StopField, string) {
	limits := rules.LimitsOfCloneSet(&k.o.Spec)
	partitioned := limits.MaxSurge > 0 && !r.snap.Gates.CloneSetPartitionRollback || subsetOf(k.o)
	if !partitioned || rules.PausedOf(k.o) {
		return pausedUnlessSo(k.o)
	}
	kept := min(r.old(atObserved(k.o, k.o.Status.UpdateRevision)), limits.Replicas)
	return stopAt(k.o, kept, limits.Replicas)
}

func (k cloneSetKind) surges() bool { return rules.LimitsOfCloneSet(&k.o.Spec).MaxSurge > 0 }

func (k cloneSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return names("priorityStrategy", r.PriorityStrategy != nil, "scatterStrategy", len(r.ScatterStrategy) > 0)
}

// cloneSetSpec has the client keep the rules of a CloneSet.
type cloneSetSpec struct{ *kruise.CloneSetSpec }

func cloneSource(spec *kruise.CloneSetSpec, replicas *int32) *kruise.CloneSetSpec {
	out := *spec
	out.Replicas = replicas
	out.UpdateStrategy.Type = kruise.RollingUpdateCloneSetStrategyType
	r := copied(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.MaxSurge, r.Paused = nil, nil, false
	out.UpdateStrategy.RollingUpdate = r
	return &out
}

func (s cloneSetSpec) subject(b *builder) subject { return b.cloneSet(s.CloneSetSpec) }

func (s cloneSetSpec) inPlace() *kruise.InPlaceUpdateStrategy {
	return s.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy
}

func (s cloneSetSpec) lifecycle() *kruise.Lifecycle { return s.Lifecycle }

func (s cloneSetSpec) order(b *builder) []*cluster.Pod {
	set := b.cloneSetRules(s.CloneSetSpec)
	set.Update, set.Current = nobody, ""
	return set.Queue().Take(len(b.snap.Pods))
}

func (s cloneSetSpec) picks(c *client) ([]*cluster.Pod, string) { return c.pickClones(*s.CloneSetSpec) }

func (cloneSetSpec) taken(r *run, _ int) []*cluster.Pod { return r.snap.Pods }
