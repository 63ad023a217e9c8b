package migrate

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kube "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// lookAtBoth reads both sides and what is on record, and refuses what cannot be done.
// Nothing is written.
func (o *options) lookAtBoth(ctx context.Context) (*handing, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return nil, err
	}
	w := &handing{options: o, namespace: namespace}
	if w.client, err = kube.New(cfg, namespace); err != nil {
		return nil, err
	}
	kept, err := w.client.HandoverOf(ctx, o.source)
	if err != nil {
		return nil, err
	}
	old, err := w.client.Get(ctx, o.from, o.source)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		w.goOn(kept, old)
	} else if err := w.fresh(ctx, old); err != nil {
		return nil, err
	}
	r := w.over.Record
	pods := kube.Labels(w.over.New)
	w.around, err = w.client.Around(ctx, r.From, r.To, pods, pods)
	return w, err
}

// goOn takes up the handover that is on record, or turns it back.
func (w *handing) goOn(kept *kube.Handover, old *unstructured.Unstructured) {
	if migrate.Of(kept.Record.From.Group, kept.Record.From.Kind) == w.from {
		w.over, w.resumed = kept, true
		return
	}
	back := &kube.Handover{Old: kept.New, New: kept.Old, Guards: kept.Guards, Record: migrate.Handover{From: kept.Record.To, To: kept.Record.From, Surge: kept.Record.Surge}}
	if old != nil {
		back.Record.UID = string(old.GetUID())
	}
	w.over, w.turned = back, true
}

// fresh begins a handover.
func (w *handing) fresh(ctx context.Context, old *unstructured.Unstructured) error {
	if old == nil {
		return &resource.Error{Err: fmt.Errorf("%s is not in namespace %s", w.title(w.from), w.namespace), Hint: "check the name and -n"}
	}
	there, err := w.client.Get(ctx, w.to, w.source)
	if err != nil {
		return err
	}
	if there != nil {
		return &resource.Error{Err: fmt.Errorf("%s exists already", w.title(w.to)), Hint: "two of one name cannot be told apart: delete one of them"}
	}
	if err := w.steady(old); err != nil {
		return err
	}
	gvr, err := w.client.Version(w.to)
	if err != nil {
		return err
	}
	takes, err := w.takes(ctx)
	if err != nil {
		return err
	}
	made, err := become(old, w.to, gvr.Version, takes)
	if err != nil {
		return err
	}
	w.findings = made.findings
	w.pods, _, _ = unstructured.NestedInt64(old.Object, "status", "currentNumberScheduled")
	w.over = &kube.Handover{Old: bare(old), New: made.object, Record: migrate.Handover{
		From: kube.WorkloadOf(old), UID: string(old.GetUID()), Surge: w.surge,
		To: migrate.Workload{Group: w.to.Group, Kind: w.to.Kind, Name: w.source},
	}}
	return nil
}

// steady refuses what is not at rest: somebody makes it anew, or is about to replace
// its pods.
func (w *handing) steady(old *unstructured.Unstructured) error {
	status := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(old.Object, "status", field)
		return n
	}
	ref := metav1.GetControllerOfNoCopy(old)
	switch {
	case ref != nil:
		return &resource.Error{Err: fmt.Errorf("%s/%s looks after %s, and would make it anew", ref.Kind, ref.Name, w.title(w.from)), Hint: "change that one"}
	case old.GetDeletionTimestamp() != nil:
		return &resource.Error{Err: errors.New(w.title(w.from) + " is being deleted")}
	case !kube.SideOf(old).Observed || status("updatedNumberScheduled") < status("desiredNumberScheduled"):
		return &resource.Error{
			Err:  fmt.Errorf("%s is being rolled out: %d of %d pods are of its newest revision", w.title(w.from), status("updatedNumberScheduled"), status("desiredNumberScheduled")),
			Hint: "finish that rollout, or undo it",
		}
	}
	return nil
}

// bare is an object as somebody would apply it: what the server and its controllers
// wrote is left out.
func bare(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", "deprecated.daemonset.template.generation")
	unstructured.RemoveNestedField(out.Object, "status")
	return out
}
