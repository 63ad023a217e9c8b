package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Preview is what a workload's controller, or the client in its place, makes of its
// present pods, by the spec that is in the cluster.
type Preview struct {
	// Object is the one that has the pods: the carrier where there is one.
	Object *cluster.Workload
	Driver Driver
	// Total is how many pods count, Reach how many of them the update strategy's selector
	// lets carry the new template, Allowed how many of those the partition does.
	// Partition is spelt as in the spec, "" without one.
	Total, Reach, Allowed int
	Partition             string
	Limits                Limits
	// Choice are the pods that the next pass updates, in their order, and why no
	// more; it is empty for kinds whose controller does not choose pods.
	rules.Choice

	// Updated are the pods of the snapshot that carry the template of the spec. Matches are those that
	// are the workload's at all: a SidecarSet is handed pods outside its namespaces, and pods that it
	// has never been injected into.
	Updated, Matches map[*cluster.Pod]bool
	blocked          map[*cluster.Pod]string
	budgetGuard
}

// PreviewOf returns the outlook of a workload at a time. It is false where the snapshot
// has none.
func PreviewOf(s Snapshot, now time.Time) (*Preview, bool) {
	b, ok := presentBuilder(s)
	if !ok {
		return nil, false
	}
	b.subject = b.readSubject()
	o := &Preview{
		Object: b.present, Driver: b.plan.Driver, Total: b.subject.total, Reach: b.subject.total - b.subject.leftOut, Allowed: b.subject.total - b.subject.leftOut, Limits: b.subject.limits,
		Choice: kindOf(b.present.Object).choice(&b.comparison, now, false), Updated: map[*cluster.Pod]bool{}, budgetGuard: b.guard(),
	}
	carries := UpdatedTest(b.plan, s)
	for _, p := range s.Pods {
		o.Updated[p] = carries(p)
	}
	o.Matches, o.blocked = b.matches()
	if v, ok := b.ownPartition(); ok {
		o.Partition, o.Allowed = v.String(), max(0, min(b.subject.partition.allowed(v), o.Reach))
	}
	return o, true
}

// NotSelected reports whether a pod stays as it is because the update strategy's selector does
// not match it, which is what the spec asks for.
func (o *Preview) NotSelected(p *cluster.Pod) bool {
	set, ok := o.Object.Object.(*kruise.SidecarSet)
	return ok && !o.Updated[p] && !(&rules.SidecarSet{Spec: &set.Spec}).Chooses(p)
}

// BlockedReason reports why no pass will ever update a pod; empty where one may.
func (o *Preview) BlockedReason(p *cluster.Pod) string {
	if mode, why := o.Mode(p); mode == rules.ModeNotAllowed {
		return why
	}
	return o.blocked[p]
}

// CurrentSpecPlan is the plan of a workload without a recorded rollout: its template is written
// already, and its controller updates the pods. Next then returns whether that is done, and what
// is missing.
func CurrentSpecPlan(s Snapshot) Plan {
	w := s.Object()
	if w == nil || w.Object == nil {
		return Plan{Driver: DriverNative, Steps: []Step{{Name: "update", Kind: StepUpdate}}}
	}
	b := newBuilder(w, w, s, Policy{})
	b.plan.Driver = kindOf(w.Object).drivers()[0]
	b.compareTemplates()
	b.subject = b.readSubject()
	p := b.plan
	p.Limits = b.subject.limits
	p.Steps = []Step{{
		Name: "update", Kind: StepUpdate, Title: "the controller brings pods to the template", Updated: b.subject.total,
		After: []Condition{{Type: HoldsSettled}},
	}}
	if w.Kind == kruise.KindDeployment {
		p.Steps[0].After = append(p.Steps[0].After, Condition{HoldsComplete, ""})
	}
	return p
}

// ForSpec is the question what becomes of the pods by the present spec, whatever rollout is
// recorded: its plan, and the snapshot without the progress of that rollout, which is of another
// plan.
func ForSpec(s Snapshot) (Plan, Snapshot) {
	s.Progress, s.Base = Progress{}, nil
	return CurrentSpecPlan(s), s
}

// SpecTimeout is how long the pods may take to follow the present spec before something is stuck, by a policy.
func SpecTimeout(s Snapshot, policy Policy) time.Duration {
	w := s.Object()
	if w == nil || w.Object == nil {
		return time.Duration(baseTimeout)
	}
	b := newBuilder(w, w, s, policy)
	b.subject = b.readSubject()
	return time.Duration(b.timeout(b.subject.total))
}

// UpdatablePods returns how many pods of a workload get a new template with its current partition,
// pause and strategy; total is the number of pods in the object. ok is false if pods are updated
// only when they are deleted.
func UpdatablePods(w *cluster.Workload, gates cluster.Gates) (reach, total int, ok bool) {
	b := newBuilder(w, w, Snapshot{Workload: w, Gates: gates}, Policy{})
	b.subject = b.readSubject()
	total = b.subject.total
	if b.subject.order == nil {
		return 0, total, false
	}
	if rules.PausedOf(w.Object) {
		return 0, total, true
	}
	if own, has := b.ownPartition(); has {
		return max(0, min(b.subject.partition.allowed(own), total)), total, true
	}
	return total, total, true
}

// Tally counts the pods of a rollout that are not being deleted, see [Snapshot.Members].
type Tally struct {
	// Desired is how many pods are wanted, Total how many there are.
	Desired int `json:"desired"`
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	// Updated carry the new template, UpdatedReady are ready besides.
	Updated      int `json:"updated"`
	UpdatedReady int `json:"updatedReady"`
}

// Count counts the pods of a rollout.
func Count(p Plan, s Snapshot) Tally {
	t := Tally{Desired: p.Limits.Replicas}
	carries := UpdatedTest(p, s)
	for _, pod := range s.Members() {
		if !rules.Active(pod) {
			continue
		}
		t.Total++
		ready, updated := rules.Ready(pod), carries(pod)
		t.Ready += boolToInt(ready)
		t.Updated += boolToInt(updated)
		t.UpdatedReady += boolToInt(ready && updated)
	}
	return t
}

func boolToInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// UpdatedTest returns a function that reports whether a pod has the new template of a plan. No pod
// has it before the template is written, unless the plan keeps it.
func UpdatedTest(p Plan, s Snapshot) func(*cluster.Pod) bool {
	r := &rollout{plan: &p, snap: &s}
	if w := r.object(); w == nil || w.Object == nil {
		return func(*cluster.Pod) bool { return false }
	}
	return r.updatedTest()
}
