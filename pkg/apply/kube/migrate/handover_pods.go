package migrate

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var (
	podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	revisions    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
)

// pods replaces the pods whose turn it is, or finishes.
func (h *Handover) pods(ctx context.Context, w *migrationWatch, kept, now *unstructured.Unstructured) (HandoverStep, error) {
	revision := newestRevision(w, now)
	if !SideOf(now).Observed || revision == "" {
		return wait("the controller of %s has not seen it yet", h.title(h.Record.To)), nil
	}
	desired, _, _ := unstructured.NestedInt64(now.Object, "status", "desiredNumberScheduled")
	there := &Handover{}
	if err := there.read(kept); err != nil {
		return HandoverStep{}, err
	}
	t := migrate.NextTurn(there.Record, int32(desired), daemonsOf(w, now, revision))
	s := HandoverStep{Turn: t}
	switch t.Verb {
	case migrate.Done:
		return s, h.finish(ctx, kept, now)
	case migrate.Wait:
		s.Why = t.Why
		return s, nil
	}
	if err := h.recordNext(ctx, kept, t.Pods); err != nil {
		return s, err
	}
	for _, p := range t.Pods {
		if err := h.evict(ctx, p); err != nil {
			// A budget that refuses is worth to be asked again: those of Kruise answer with 403, as do missing permissions to evict.
			if !apierrors.IsTooManyRequests(err) && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "podunavailablebudget")) {
				return s, err
			}
			text, _, _ := strings.Cut(err.Error(), "\n")
			s.Why = fmt.Sprintf("pod %s may not go: %s", p.Name, text)
		}
	}
	return s, nil
}

// evict asks for a pod to go, if it is still the very same.
func (h *Handover) evict(ctx context.Context, p migrate.Daemon) error {
	e, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Name: p.Name, Namespace: h.client.namespace},
		DeleteOptions: metav1.NewPreconditionDeleteOptions(p.UID),
	})
	if err != nil {
		return err
	}
	_, err = h.client.resource(podsResource).Create(ctx, &unstructured.Unstructured{Object: e}, metav1.CreateOptions{}, "eviction")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it has gone
	}
	return err
}

// newestRevision is the hash of a workload's newest revision; "" where none is known.
func newestRevision(w *migrationWatch, now *unstructured.Unstructured) string {
	hash, highest := "", int64(-1)
	for _, u := range w.list(revisions) {
		n, _, _ := unstructured.NestedInt64(u.Object, "revision")
		if metav1.IsControlledBy(u, now) && n > highest {
			hash, highest = u.GetLabels()["controller-revision-hash"], n
		}
	}
	return hash
}

// daemonsOf reads the pods that are the new workload's, or unmanaged.
func daemonsOf(w *migrationWatch, now *unstructured.Unstructured, revision string) []migrate.Daemon {
	var out []migrate.Daemon
	for _, u := range w.list(podsResource) {
		owner := metav1.GetControllerOfNoCopy(u)
		if owner != nil && owner.UID != now.GetUID() {
			continue
		}
		var p corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p) != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		d := migrate.Daemon{Name: p.Name, UID: string(p.UID), Node: nodeOf(&p), Taken: owner != nil, Updated: owner != nil && p.Labels["controller-revision-hash"] == revision, Going: p.DeletionTimestamp != nil}
		d.Available = !d.Going && isReady(&p)
		out = append(out, d)
	}
	return out
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// nodeOf is the node that a pod is on, or is made for.
func nodeOf(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if p.Spec.NodeName != "" || a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return p.Spec.NodeName
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}
