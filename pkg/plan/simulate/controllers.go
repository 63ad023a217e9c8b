package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
)

// controllerManager runs the controllers of workloads: it decides when each makes its next pass,
// and carries out what the pass writes.
type controllerManager struct {
	*parts
}

// wake has the object's controller look after its usual delay.
func (m *controllerManager) wake(o *object) {
	m.wakeAfter(o, m.opt.latency(len(o.pods.now)))
}

func (m *controllerManager) wakeAfter(o *object, d time.Duration) {
	if o.workload == nil || o.carrier != nil {
		return
	}
	m.clock.wakeAfter(&o.wakeup, d, func() {
		if m.store.objects[o.ref] == o {
			m.reconcile(o)
		}
	})
}

// latency is how late a controller is that watches this many pods.
func (o *Options) latency(pods int) time.Duration {
	return o.Latency + time.Duration(pods)*o.LatencyPerPod
}

// reconcile makes one pass of the object's controller.
func (m *controllerManager) reconcile(o *object) {
	// What a controller sees.
	v := &controller.View{
		Now: m.clock.now(), Workload: o.workload, Revisions: o.revisions, Nodes: m.scheduler.share(),
		Pods:       m.store.podsOf(o),
		Namespaces: m.store.namespaces, Reports: m.kubelet.reports, Gates: m.opt.Gates,
		Claims: m.claims.of(o), Answers: o.remembered(m.opt),
		Chance: m.chance,
	}
	for _, child := range o.children {
		v.Children = append(v.Children, child.workload)
	}
	if o.parent != nil {
		v.Related = m.store.podsOf(o.parent)
	}
	pass, err := controller.Reconcile(v)
	if err != nil {
		m.clock.errs = append(m.clock.errs, fmt.Errorf("%s: %w", o.ref, err))
		return
	}
	after, refused := m.apply(o, pass)
	// Plan the next look. A controller whose write was refused comes back by itself, after twice the wait each time; only
	// that of a CloneSet asks a budget by the second. Whatever else has it look sooner takes the place of that: when it is
	// refused again, the wait starts again, and is longer (docs/kruise/workloads.md#update-order and
	// docs/kruise/workloads.md#observed-on-a-cluster; case 405).
	if refused {
		wait := min(retryFirst<<min(o.refusals, 20), retryMost)
		if o.ref.Kind == kruise.KindCloneSet {
			wait = controller.Retry
		}
		o.refusals++
		m.wakeAfter(o, wait)
	} else {
		o.refusals, o.refusal = 0, ""
	}
	if after > 0 {
		m.wakeAfter(o, after)
	}
}

// apply does what a pass asks for, up to the first write that is refused, and
// returns when the controller wants to look again.
func (m *controllerManager) apply(o *object, pass controller.Pass) (again time.Duration, refused bool) {
	for done, a := range pass.Actions {
		err := m.execute(o, a)
		if err == nil {
			continue
		}
		refused = true
		o.refusal = err.Error()
		if then, ok := pass.IfRefused(done, err); ok {
			again, _ = m.apply(o, then)
			return again, true
		}
		break
	}
	if pass.Status != nil {
		m.api.setStatus(o, pass.Status)
	}
	return pass.RequeueAfter, refused
}

// How long a controller waits after the first refusal and, doubled each time, at
// most.
const (
	retryFirst = 5 * time.Millisecond
	retryMost  = 1000 * time.Second
)

// execute carries out one write of a controller.
func (m *controllerManager) execute(o *object, a controller.Action) error {
	if _, ok := a.(controller.Event); ok {
		return nil // events are not kept
	}
	m.recorder.writes++
	switch a := a.(type) {
	case controller.StoreRevision:
		m.storeRevision(o, a.Revision)
	case controller.DropRevision:
		o.revisions = slices.DeleteFunc(slices.Clone(o.revisions), func(r cluster.Revision) bool { return r.Name == a.Name })
		delete(o.templates, a.Name)
		m.store.touch(o)
	case controller.CreatePod:
		return m.creator.create(o, a)
	case controller.PatchPod:
		return m.patchPod(a)
	case controller.DeletePod:
		return m.pods.delete(m.store.podsByUID[a.Pod.UID], "")
	case controller.PatchWorkload:
		return m.api.patchHub(o, a.Patch)
	case controller.ScaleChild:
		// Set the size of a ReplicaSet, which may have to be made first.
		ref := cluster.Ref{Group: "apps", Kind: kruise.KindReplicaSet, Namespace: o.ref.Namespace, Name: a.Name}
		if a.New != nil {
			return m.api.adopt(o, a.New)
		}
		child, err := m.store.lookup(ref)
		if err != nil {
			return err
		}
		patch := map[string]any{"spec": map[string]any{"replicas": int64(a.Replicas)}}
		if len(a.Annotations) > 0 {
			annotations := map[string]any{}
			for k, v := range a.Annotations {
				annotations[k] = v
			}
			patch["metadata"] = map[string]any{"annotations": annotations}
		}
		return m.api.patchHub(child, patch)
	case controller.DropChild:
		return m.api.delete(cluster.Ref{Group: "apps", Kind: kruise.KindReplicaSet, Namespace: o.ref.Namespace, Name: a.Name})
	case controller.ChangeClaim:
		m.claims.change(o, a)
	}
	return nil
}

func (m *controllerManager) storeRevision(o *object, r cluster.Revision) {
	o.revisions = slices.Clone(o.revisions)
	i := slices.IndexFunc(o.revisions, func(have cluster.Revision) bool { return have.Name == r.Name })
	if i < 0 {
		o.revisions = append(o.revisions, r)
	} else {
		o.revisions[i].Number = r.Number
	}
	m.store.touch(o)
	m.wake(o)
}

// patchPod changes a pod: the conditions first, as they are a write of their
// own.
func (m *controllerManager) patchPod(a controller.PatchPod) error {
	e := m.store.podsByUID[a.Pod.UID]
	if e == nil {
		return fmt.Errorf("pod %s: %w", a.Pod.Name, plan.ErrNotFound)
	}
	rest := a.Change
	rest.Conditions = nil
	if a.Permit && m.opt.GuardUpdates {
		if err := m.budgets.permit(e, kruise.PubUpdateOperation, false); err != nil {
			return err
		}
	}
	if len(a.Change.Conditions) > 0 {
		m.pods.change(e, cluster.PodChange{Conditions: a.Change.Conditions}, "")
	}
	if err := m.pods.admitUpdate(e, rest); err != nil {
		return err
	}
	if !rest.Empty() {
		m.pods.change(e, rest, "")
	}
	return nil
}
