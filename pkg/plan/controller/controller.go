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
	"time"

	appsv1 "k8s.io/api/apps/v1"

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
	// Claims are those that belong to the workload's pods.
	Claims []*cluster.Claim
	// Nodes are all nodes, by name.
	Nodes map[string]*cluster.Node
	// Namespaces are the labels of each namespace.
	Namespaces map[string]map[string]string
	// Reports is what nodes say of pods beyond their status, by uid; a pod that
	// is missing has nothing pending.
	Reports map[string]rules.NodeReport
	Gates   cluster.Gates
	// Survey is what the controller of a CloneSet remembers of its last pass; nil
	// has it look at every pod anew.
	Survey *rules.Survey
	// Pick returns a number in [0, n): what the controller leaves to chance,
	// such as which node of a DaemonSet comes first.
	Pick func(n int) int
}

// Pass is what one pass of a controller does. Actions are carried out in order;
// the first that is refused ends the pass, and the controller comes back after
// Retry.
type Pass struct {
	Actions []Action
	// Status is the new status, a pointer of the type of the object's field; nil
	// when the controller writes none. It is written after the actions.
	Status any
	// Again is when the controller looks again without any change, counted from
	// now; 0 means not before something changes.
	Again time.Duration
	// Why says what the pass does, or what holds it up.
	Why string
	// IfRefused is what the controller does when a write is refused before which
	// done of the actions were carried out, instead of the rest of this pass and
	// its status; nil when the pass just ends. It comes back after [Retry] all
	// the same.
	IfRefused func(done int, why error) Pass
}

// Retry is how long after a refused write a controller comes back.
const Retry = time.Second

// Reconcile makes one pass of the controller of the view's workload. It fails
// only on a kind that has no model.
func Reconcile(v *View) (Pass, error) {
	pass := cluster.By(v.Workload.Object, cluster.Kinds[reconciler](reconcilers{}))
	if pass == nil {
		return Pass{}, fmt.Errorf("no controller is modelled for %s", v.Workload)
	}
	return pass(v)
}

// reconciler makes one pass of the controller of one object.
type reconciler func(v *View) (Pass, error)

// reconcilers has the controller of each kind of workload.
type reconcilers struct{}

// reconciling is a controller whose passes cannot fail.
func reconciling[T any](pass func(*View, T) Pass, o T) reconciler {
	return func(v *View) (Pass, error) { return pass(v, o), nil }
}

func (reconcilers) CloneSet(o *kruise.CloneSet) reconciler { return reconciling(reconcileCloneSet, o) }

func (reconcilers) StatefulSet(o *kruise.StatefulSet) reconciler {
	return reconciling(reconcileStatefulSet, o)
}

func (reconcilers) DaemonSet(o *kruise.DaemonSet) reconciler {
	return reconciling(reconcileDaemonSet, o)
}

func (reconcilers) SidecarSet(o *kruise.SidecarSet) reconciler {
	return func(v *View) (Pass, error) { return reconcileSidecarSet(v, o) }
}

func (reconcilers) Deployment(o *appsv1.Deployment) reconciler {
	return reconciling(reconcileDeployment, o)
}

func (reconcilers) ReplicaSet(o *appsv1.ReplicaSet) reconciler {
	return reconciling(reconcileReplicaSet, o)
}

func (reconcilers) NativeStatefulSet(o *appsv1.StatefulSet) reconciler {
	return reconciling(reconcileNativeStatefulSet, o)
}

func (reconcilers) NativeDaemonSet(o *appsv1.DaemonSet) reconciler {
	return reconciling(reconcileNativeDaemonSet, o)
}
