package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type cloneSetKind struct {
	kruiseKind
	o *kruise.CloneSet
}

func (kinds) CloneSet(o *kruise.CloneSet) kind {
	return cloneSetKind{kruiseKind{anyKind{o}}, o}
}

func (k cloneSetKind) subject(b *comparison) subject { return b.cloneSet(&k.o.Spec) }

// cloneSet reads a CloneSet (docs/kruise/workloads.md#partition and
// docs/kruise/workloads.md#update-order).
func (b *comparison) cloneSet(spec *kruise.CloneSetSpec) subject {
	set := b.cloneSetRules(spec)
	l := rules.LimitsOfCloneSet(spec)
	leaving, named := 0, 0
	for _, p := range b.snap.Pods {
		if b.plan.Driver == DriverKruise && rules.Active(p) && slices.Contains(spec.ScaleStrategy.PodsToDelete, p.Name) {
			named++
		}
	}
	if active := b.activePods(); active > l.Replicas {
		leaving = active - l.Replicas
	}
	s := subject{
		total:  l.Replicas,
		limits: Limits{l.Replicas, l.MaxUnavailable, l.MaxSurge, seconds(spec.MinReadySeconds)},
	}
	if b.plan.Driver == DriverKruise {
		s.scaleDown = set
	}
	b.countPods(&s, b.activePods()-max(leaving, named), b.updatedPods())
	if _, ok := cluster.Of(&kruise.CloneSet{Spec: *spec}).Partition(); ok {
		s.partition, s.order = cloneSetPartition(s.total), set.Queue()
		s.outdatedAt = b.readyBeforeOthers(s.total)
	}
	return s
}

// readyBeforeOthers are the places of outdated pods of a CloneSet: pods that it creates are reached before ready ones, and after those
// that are not.
func (b *comparison) readyBeforeOthers(total int) (places []int) {
	for _, p := range b.snap.Pods {
		switch {
		case !rules.Active(p) || !b.isOutdated(p):
		case p.IsReady():
			places = slices.Insert(places, 0, 0)
		default:
			places = append(places, total)
		}
	}
	return places
}

// cloneSetPartition is the partition of a CloneSet of so many pods.
type cloneSetPartition int

func (total cloneSetPartition) allowed(v intstr.IntOrString) int {
	return int(total) - rules.Partition(&v, int(total))
}

func (b *comparison) cloneSetRules(spec *kruise.CloneSetSpec) *rules.CloneSet {
	current := b.plan.Change.FromRevision
	return &rules.CloneSet{
		Spec: spec, Current: current, Update: b.updateRevision(),
		Pods: b.snap.Pods, Nodes: b.snap.Nodes, Gates: b.snap.Gates,
	}
}

func (k cloneSetKind) restartSpec(any) kruiseSpec {
	return cloneSetSpec{clientCloneSet(&k.o.Spec, k.o.Spec.Replicas)}
}

func (k cloneSetKind) choice(b *comparison, now time.Time, brief bool) rules.Choice {
	set := b.cloneSetRules(&k.o.Spec)
	set.Current, set.Now = k.o.Status.CurrentRevision, now
	if brief {
		return set.TakeUpdate()
	}
	return set.ChooseUpdate()
}

// mostNext is the limit of pods of the target revision that are not available yet.
func (k cloneSetKind) mostNext(b *comparison) int {
	l := rules.LimitsOfCloneSet(&k.o.Spec)
	return max(l.MaxUnavailable+len(b.snap.Pods)-l.Replicas, 0)
}

func (k cloneSetKind) stepPending(*rollout) rules.Pending    { return rules.CloneSetStepPending(k.o) }
func (k cloneSetKind) rolloutPending(*rollout) rules.Pending { return rules.CloneSetPending(k.o) }

func (k cloneSetKind) stop(r *rollout) (StopField, string) {
	limits := rules.LimitsOfCloneSet(&k.o.Spec)
	partitioned := limits.MaxSurge > 0 && !r.snap.Gates.CloneSetPartitionRollback || isSubset(k.o)
	if !partitioned || rules.PausedOf(k.o) {
		return stopByPause(k.o)
	}
	kept := min(r.outdatedPods(atObservedRevision(k.o, k.o.Status.UpdateRevision)), limits.Replicas)
	return stopByPartition(k.o, kept, limits.Replicas)
}

func (k cloneSetKind) surges() bool { return rules.LimitsOfCloneSet(&k.o.Spec).MaxSurge > 0 }

func (k cloneSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return setFields("priorityStrategy", r.PriorityStrategy != nil, "scatterStrategy", len(r.ScatterStrategy) > 0)
}

// cloneSetSpec has the client keep the rules of a CloneSet.
type cloneSetSpec struct{ *kruise.CloneSetSpec }

func clientCloneSet(spec *kruise.CloneSetSpec, replicas *int32) *kruise.CloneSetSpec {
	out := *spec
	out.Replicas = replicas
	out.UpdateStrategy.Type = kruise.RollingUpdateCloneSetStrategyType
	r := copyOrNew(out.UpdateStrategy.RollingUpdate)
	r.Partition, r.MaxSurge, r.Paused = nil, nil, false
	out.UpdateStrategy.RollingUpdate = r
	return &out
}

func (s cloneSetSpec) subject(b *comparison) subject { return b.cloneSet(s.CloneSetSpec) }

func (s cloneSetSpec) inPlace() *kruise.InPlaceUpdateStrategy {
	return s.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy
}

func (s cloneSetSpec) lifecycle() *kruise.Lifecycle { return s.Lifecycle }

func (s cloneSetSpec) updateOrder(b *comparison) []*cluster.Pod {
	set := b.cloneSetRules(s.CloneSetSpec)
	set.Update, set.Current = unstoredRevision, ""
	return set.Queue().Take(len(b.snap.Pods))
}

func (s cloneSetSpec) nextPods(c *client) ([]*cluster.Pod, string) {
	spec := *s.CloneSetSpec
	kept := intstr.FromInt32(int32(max(replicas(c.object())-c.step.Updated, 0)))
	rolling := copyOrNew(spec.UpdateStrategy.RollingUpdate)
	rolling.Partition = &kept
	spec.UpdateStrategy.RollingUpdate = rolling
	set := &rules.CloneSet{Spec: &spec, Update: c.revision, Pods: c.withRestarts.Pods, Nodes: c.snap.Nodes, Gates: c.snap.Gates, Now: c.now}
	return chosenWithReason(set.ChooseUpdate())
}

func (cloneSetSpec) countedPods(r *rollout, _ int) []*cluster.Pod { return r.snap.Pods }
