package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type daemonSetKind struct {
	kruised
	templated
	o *kruise.DaemonSet
}

func (kinds) DaemonSet(o *kruise.DaemonSet) kind { return daemonSetKind{templated: templated{o}, o: o} }

func (k daemonSetKind) subject(b *builder) subject {
	return b.daemonSet(&k.o.Spec, scheduledOf(b.present.Object))
}

func (k daemonSetKind) restarted(any) kruiseSpec { return daemonSetSpec{&k.o.Spec} }

func (k daemonSetKind) carrying(*run) func(*cluster.Pod) bool {
	return atRevision(k.o.Status.UpdateRevision)
}

func (k daemonSetKind) choice(b *builder, now time.Time, _ bool) rules.Choice {
	return b.daemonChoice(&k.o.Spec, now)
}

func (k daemonSetKind) stepPending(r *run) rules.Pending {
	return rules.DaemonSetStepPending(k.o, k.selected(r))
}

func (k daemonSetKind) rolloutPending(r *run) rules.Pending {
	if k.selected(r) >= 0 {
		return nil // nodes that the selector leaves out stay old
	}
	return rules.DaemonSetPending(k.o)
}

// selected is how many nodes the strategy chooses, -1 for all.
func (k daemonSetKind) selected(r *run) int {
	if ru := k.o.Spec.UpdateStrategy.RollingUpdate; ru == nil || ru.Selector == nil {
		return -1
	}
	return daemonSetRules(*r.snap, &k.o.Spec, k.o.Status.UpdateRevision, scheduledOf(k.o)).Selected()
}

func (k daemonSetKind) stop(*run) (StopField, string) { return pausedUnlessSo(k.o) }

func (k daemonSetKind) surges() bool {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	return r != nil && r.MaxSurge != nil && r.MaxSurge.String() != "0" && r.MaxSurge.String() != "0%"
}

func (k daemonSetKind) ordering() []string {
	r := k.o.Spec.UpdateStrategy.RollingUpdate
	if r == nil {
		return nil
	}
	return names("selector", r.Selector != nil, "", false)
}

// daemonSetSpec has the client keep the rules of an Advanced DaemonSet. The client
// has no hooks and no grace period of it.
type daemonSetSpec struct{ *kruise.DaemonSetSpec }

func (s daemonSetSpec) subject(b *builder) subject {
	return b.daemonSet(s.DaemonSetSpec, scheduledOf(b.present.Object))
}

func (daemonSetSpec) inPlace() *kruise.InPlaceUpdateStrategy { return nil }
func (daemonSetSpec) lifecycle() *kruise.Lifecycle           { return nil }

func (s daemonSetSpec) order(b *builder) []*cluster.Pod {
	return daemonPods(daemonSetRules(b.snap, s.DaemonSetSpec, nobody, scheduledOf(b.present.Object)))
}

func (s daemonSetSpec) picks(c *client) ([]*cluster.Pod, string) {
	return c.pickDaemons(*s.DaemonSetSpec)
}

func (daemonSetSpec) taken(r *run, _ int) []*cluster.Pod { return r.snap.Pods }
