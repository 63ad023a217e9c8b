package plan

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// ownershipProblem is why the object is not this rollout's to write.
func (r *rollout) ownershipProblem() (why Blocker, bad bool) {
	w := r.object()
	if w == nil || w.Object == nil {
		return Blocker{Gate: GateObject, Why: "the object is gone"}, true
	}
	p, bad := ownershipOf(w, r.plan.Target.Object().UID)
	return Blocker{Gate: p.gate, Why: p.why}, bad
}

// check refuses workloads and policies that no plan can be made for.
func (b *builder) check() error {
	if b.desired == nil || b.present == nil || b.desired.Object == nil || b.present.Object == nil {
		return &tree.Error{Msg: "there is nothing to compare with", Hint: "a rollout changes a workload that is there: create it first"}
	}
	if d, p := b.desired.Ref, b.present.Ref; d != p {
		return &tree.Error{Msg: fmt.Sprintf("%s cannot become %s", title(p), title(d)), Hint: "a plan is for one object: give the same kind, namespace and name before and after the change"}
	}
	if err := b.checkSelector(); err != nil {
		return err
	}
	if err := rules.CheckClaims(b.present, b.desired); err != nil {
		return err
	}
	if p, bad := ownershipOf(b.present, b.desired.UID); bad {
		return &tree.Error{Path: p.path, Msg: p.why, Hint: p.hint}
	}
	return CheckSteps(b.policy.Steps)
}

// ownership is why an object is not a rollout's to write: the gate that a running rollout
// shows, and the field and the remedy for one that is still to be planned.
type ownership struct {
	gate, path, why, hint string
}

// ownershipOf reports whether an object is no longer the one of a UID, "" for any, or is being
// deleted, or another controller owns its rollout.
func ownershipOf(w *cluster.Workload, uid string) (problem ownership, bad bool) {
	switch owner := rolloutOwner(w); {
	case uid != "" && w.UID != "" && uid != w.UID:
		return ownership{
			GateObject, "metadata.uid", fmt.Sprintf("%s was deleted and created again: uid %s, not %s", title(w.Ref), w.UID, uid),
			"plan the change again for the object that is there now",
		}, true
	case metaOf(w).GetDeletionTimestamp() != nil:
		return ownership{GateObject, "metadata.deletionTimestamp", title(w.Ref) + " is being deleted", "create it again"}, true
	case owner != "":
		return ownership{
			GateOwner, "", fmt.Sprintf("%s is controlled by %s", title(w.Ref), owner),
			"'kubectl kruise rollout approve', 'pause' or 'undo' rollout/NAME: it would undo a partition written here",
		}, true
	}
	return ownership{}, false
}

func (b *builder) checkSelector() error {
	if b.present.Kind == kruise.KindSidecarSet || reflect.DeepEqual(cluster.Of(b.present.Object).Selector(), cluster.Of(b.desired.Object).Selector()) {
		return nil
	}
	return &tree.Error{Path: "spec.selector", Msg: "the selector of " + title(b.present.Ref) + " cannot change", Hint: "keep the selector, or delete the object and create it again"}
}

// rolloutOwner names the Kruise Rollout that controls the workload; it is empty without
// one.
func rolloutOwner(w *cluster.Workload) string {
	for _, key := range []string{InProgressingAnnotation, controlInfo} {
		if _, ok := w.Annotations[key]; ok {
			return "a Kruise Rollout (annotation " + key + ")"
		}
	}
	return ""
}

// InProgressingAnnotation is how admission marks a workload whose change a Kruise Rollout
// has taken (docs/facts/older-plugin.md#who-owns-the-workload).
const InProgressingAnnotation = "rollouts.kruise.io/in-progressing"

// controlInfo is the other annotation by which a Kruise Rollout holds a workload.
const controlInfo = "batchrelease.rollouts.kruise.io/control-info"

// title is kind, namespace and name of an object: CloneSet shop/web.
func title(r cluster.Ref) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// metaOf returns the metadata of an object, empty if it has none.
func metaOf(w *cluster.Workload) metav1.Object {
	m, ok := w.Object.(metav1.Object)
	if !ok {
		return &metav1.ObjectMeta{}
	}
	return m
}
