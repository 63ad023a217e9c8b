// Package controller models the controllers of Kruise and Kubernetes: one pass of
// each as a pure function, from what the controller sees to what it writes. The
// decisions are those of package rules; here is what surrounds them: revisions,
// names, the writes that carry a decision out, and the status.
//
// The simulator runs these models over a cluster of its own with a clock of its
// own, and the test bed runs the very same over a real API server. So a
// controller here knows no store, no clock and no chance: all come in as a View.
package controller

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// View is what one pass of a controller sees.
type View struct {
	Now      time.Time
	Workload *cluster.Workload
	// Revisions are those of the workload, in any order.
	Revisions []cluster.Revision
	// Pods are those that the workload owns, terminating and finished ones
	// included; a Deployment sees those of its ReplicaSets, a SidecarSet the pods
	// of all namespaces.
	Pods []*cluster.Pod
	// Related are, for a ReplicaSet of a Deployment, the pods of all ReplicaSets
	// of that Deployment, its own among them; otherwise empty.
	Related []*cluster.Pod
	// Children are the ReplicaSets of a Deployment.
	Children []*cluster.Workload
	// Claims are those that belong to the workload's pods, sorted by name.
	Claims []*cluster.Claim
	// Nodes are all nodes, by name.
	Nodes map[string]*cluster.Node
	// Namespaces are the labels of each namespace.
	Namespaces map[string]map[string]string
	// Reports are what nodes report about pods beyond their status, by uid; a pod that is missing
	// has nothing pending.
	Reports map[string]rules.NodeReport
	Gates   cluster.Gates
	// Answers is what is remembered of Pods and Claims from pass to pass; nil remembers nothing.
	Answers *cluster.Answers
	// Chance decides what the controller leaves to chance, such as which node of a DaemonSet comes
	// first; nil always takes the first.
	Chance interface {
		// Below returns a number in [0, n).
		Below(n int) int
	}
}

// Pass is what one pass of a controller does. Actions are carried out in order;
// the first that is refused ends the pass, and the controller comes back after
// Retry.
type Pass struct {
	Actions []Action
	// Status is the new status, a pointer of the type of the object's field; nil
	// when the controller writes none. It is written after the actions.
	Status any
	// RequeueAfter is when the controller looks again without any change, counted from
	// now; 0 means not before something changes.
	RequeueAfter time.Duration
	// Why is what the pass does, or what it waits for.
	Why string
	// scaling is the pass of a CloneSet that creates or deletes pods.
	scaling *cloneSet
}

// IfRefused is what the controller does when a write is refused before which
// done of the actions were carried out, instead of the rest of this pass and
// its status; false when the pass just ends. It comes back after [Retry] all
// the same.
func (p *Pass) IfRefused(done int, why error) (Pass, bool) {
	if p.scaling == nil {
		return Pass{}, false
	}
	return p.scaling.refused(done, why), true
}

// Retry is how long after a refused write a controller comes back.
const Retry = time.Second

// Reconcile makes one pass of the controller of the view's workload. It fails
// only on a kind that has no model.
func Reconcile(v *View) (Pass, error) {
	kinds := &reconcilers{View: v}
	pass := cluster.By(v.Workload.Object, cluster.Kinds[*Pass](kinds))
	if pass == nil {
		return Pass{}, fmt.Errorf("no controller is modelled for %s", v.Workload)
	}
	return *pass, kinds.err
}

// reconcilers has the controller of each kind of workload.
type reconcilers struct {
	*View
	err error
}

func (r *reconcilers) CloneSet(o *kruise.CloneSet) *Pass { return new(reconcileCloneSet(r.View, o)) }

func (r *reconcilers) StatefulSet(o *kruise.StatefulSet) *Pass {
	return new(reconcileStatefulSet(r.View, o))
}

func (r *reconcilers) DaemonSet(o *kruise.DaemonSet) *Pass { return new(reconcileDaemonSet(r.View, o)) }

func (r *reconcilers) Deployment(o *appsv1.Deployment) *Pass {
	return new(reconcileDeployment(r.View, o))
}

func (r *reconcilers) ReplicaSet(o *appsv1.ReplicaSet) *Pass {
	return new(reconcileReplicaSet(r.View, o))
}

func (r *reconcilers) NativeStatefulSet(o *appsv1.StatefulSet) *Pass {
	return new(reconcileNativeStatefulSet(r.View, o))
}

func (r *reconcilers) NativeDaemonSet(o *appsv1.DaemonSet) *Pass {
	return new(reconcileNativeDaemonSet(r.View, o))
}

func (r *reconcilers) SidecarSet(o *kruise.SidecarSet) *Pass {
	pass, err := reconcileSidecarSet(r.View, o)
	r.err = err
	return &pass
}

// act adds a write.
func (p *Pass) act(a Action) { p.Actions = append(p.Actions, a) }

// requeueAfter has the controller come back after a time, unless it does so sooner
// anyway; 0 asks for nothing.
func (p *Pass) requeueAfter(after time.Duration) {
	if after > 0 && (p.RequeueAfter == 0 || after < p.RequeueAfter) {
		p.RequeueAfter = after
	}
}

// changed returns the new status for [Pass.Status], nil if it is unchanged.
func changed[T any](old, now *T) any {
	if reflect.DeepEqual(old, now) {
		return nil
	}
	return now
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// or returns what is set, else the default.
func or[T any](v *T, byDefault T) T {
	if v == nil {
		return byDefault
	}
	return *v
}

// Action is one write of a controller.
type Action interface{ action() }

type (
	// StoreRevision creates the revision, or sets Number of the one that is
	// there under the same name.
	StoreRevision struct{ Revision cluster.Revision }

	// DropRevision deletes a revision that history no longer keeps.
	DropRevision struct{ Name string }

	// CreatePod makes a pod from a revision's template. Admission may still
	// change it.
	CreatePod struct {
		// Name is the pod's; when it is empty the store makes PREFIX plus five
		// random characters, and puts those into each label of IDLabels.
		Name   string
		Prefix string
		// IDLabels are labels whose value is the random part, on the pod and on
		// those of its claims whose names end in it.
		IDLabels []string
		// Revision is the full name of the revision; it is empty for the
		// workload's present template, which is all that a ReplicaSet knows.
		Revision string
		// Labels, Annotations and Gates are added to the template's.
		Labels, Annotations map[string]string
		Gates               []string
		// Node binds the pod, as a DaemonSet does; empty for the scheduler.
		Node string
		// Claims are created before the pod unless they are there; a name ends in
		// "-" where the random part belongs.
		Claims []cluster.Claim
	}

	// PatchPod changes a pod. Conditions are written first, by themselves, as
	// the status is a request of its own.
	PatchPod struct {
		Pod    *cluster.Pod
		Change cluster.PodChange
		// Permit asks the PodUnavailableBudgets before anything is written.
		Permit bool
	}

	// DeletePod asks for a pod's deletion, within its grace period.
	DeletePod struct{ Pod *cluster.Pod }

	// PatchWorkload is a JSON merge patch of the controller's own object, in its
	// kind's newest version.
	PatchWorkload struct{ Patch map[string]any }

	// ScaleChild sets the replicas and some annotations of a ReplicaSet.
	ScaleChild struct {
		Name     string
		Replicas int
		// Annotations are merged into the ReplicaSet's own.
		Annotations map[string]string
		// New is the ReplicaSet to create, complete but for uid and generation:
		// its owner reference, labels and template are those it should have. It
		// is nil for one that exists.
		New *cluster.Workload
	}

	// DropChild deletes a ReplicaSet without pods.
	DropChild struct{ Name string }

	// ChangeClaim deletes a claim, or gives it an owner.
	ChangeClaim struct {
		Claim  *cluster.Claim
		Delete bool
		Owner  *cluster.Owner
	}

	// Event is what the controller would report: Normal or Warning.
	Event struct{ Type, Reason, Message string }
)

func (StoreRevision) action() {}

func (DropRevision) action() {}

func (CreatePod) action() {}

func (PatchPod) action() {}

func (DeletePod) action() {}

func (PatchWorkload) action() {}

func (ScaleChild) action() {}

func (DropChild) action() {}

func (ChangeClaim) action() {}

func (Event) action() {}

// label sets a label in a change.
func label(c *cluster.PodChange, key, value string) {
	if c.Labels == nil {
		c.Labels = map[string]*string{}
	}
	c.Labels[key] = &value
}

// annotate sets an annotation in a change; nil removes it.
func annotate(c *cluster.PodChange, key string, value *string) {
	if c.Annotations == nil {
		c.Annotations = map[string]*string{}
	}
	c.Annotations[key] = value
}

// condition sets a condition in a change, unless the pod has it with that status
// and message, or lacks the readiness gate that it is for.
func condition(c *cluster.PodChange, p *cluster.Pod, gate string, status corev1.ConditionStatus, reason, message string) {
	have, _ := p.Condition(gate)
	if slices.Contains(p.ReadinessGates, gate) && (have.Status != status || have.Message != message) {
		c.Conditions = append(c.Conditions, cluster.SetTo(gate, status, reason, message))
	}
}

// wholeSeconds is a time as Kubernetes stores it.
func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// stamp is a time as annotations have it.
func stamp(t time.Time) string { return wholeSeconds(t).Format(time.RFC3339) }

// activePods leaves out what goes or has ended.
func activePods(list []*cluster.Pod) []*cluster.Pod {
	out := make([]*cluster.Pod, 0, len(list))
	for _, p := range list {
		if rules.Active(p) {
			out = append(out, p)
		}
	}
	return out
}

// untilAvailable is after how long the next of the ready pods has been ready for
// minReadySeconds; 0 when none waits for that.
func untilAvailable(list []*cluster.Pod, minReadySeconds int32, now time.Time) time.Duration {
	var next time.Duration
	minReady := seconds(minReadySeconds)
	if minReady == 0 {
		return 0
	}
	for _, p := range list {
		if !rules.Ready(p) || rules.Available(p, minReady, now) {
			continue
		}
		ready, _ := p.Condition(string(corev1.PodReady))
		// The rules want more than minReady, not as much.
		if wait := ready.Since.Add(minReady).Sub(now) + time.Millisecond; wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// one counts a pod of which something is true.
func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// reportOn returns what the node reports about a pod. Without a report nothing is pending, except
// for images, which the status has.
func reportOn(reports map[string]rules.NodeReport, p *cluster.Pod) rules.NodeReport {
	if r, ok := reports[p.UID]; ok {
		return r
	}
	return rules.NodeReport{EnvHashes: true, Resources: true}
}
