package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var (
	podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	revisions    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
)

// pods replaces the pods whose turn it is, or finishes.
func (h *Handover) pods(ctx context.Context, w *watched, kept, now *unstructured.Unstructured) (HandoverStep, error) {
	revision := newest(w, now)
	if !SideOf(now).Observed || revision == "" {
		return wait("the controller of %s has not seen it yet", h.word(h.Record.To)), nil
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
		return s, h.finish(ctx, now)
	case migrate.Wait:
		s.Why = t.Why
		return s, nil
	}
	if err := h.turn(ctx, kept, t.Pods); err != nil {
		return s, err
	}
	for _, p := range t.Pods {
		if err := h.evict(ctx, p); err != nil {
			if !budgeted(err) {
				return s, err
			}
			text, _, _ := strings.Cut(err.Error(), "\n")
			s.Why = fmt.Sprintf("pod %s may not go: %s", p.Name, text)
		}
	}
	return s, nil
}

// budgeted reports whether a budget refuses, so that it is worth to ask again: those of
// Kruise answer with 403, as does whoever may not evict at all.
func budgeted(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "podunavailablebudget")
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
	_, err = h.client.of(podsResource).Create(ctx, &unstructured.Unstructured{Object: e}, metav1.CreateOptions{}, "eviction")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it has gone
	}
	return err
}

// newest is the hash of a workload's newest revision; "" where none is known.
func newest(w *watched, now *unstructured.Unstructured) string {
	hash, highest := "", int64(-1)
	for _, u := range w.all(revisions) {
		n, _, _ := unstructured.NestedInt64(u.Object, "revision")
		if metav1.IsControlledBy(u, now) && n > highest {
			hash, highest = u.GetLabels()["controller-revision-hash"], n
		}
	}
	return hash
}

// daemonsOf reads the pods that are the new workload's, or nobody's.
func daemonsOf(w *watched, now *unstructured.Unstructured, revision string) []migrate.Daemon {
	var out []migrate.Daemon
	for _, u := range w.all(podsResource) {
		owner := metav1.GetControllerOfNoCopy(u)
		if owner != nil && owner.UID != now.GetUID() {
			continue
		}
		var p corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &p) != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		d := migrate.Daemon{Name: p.Name, UID: string(p.UID), Node: nodeOf(&p), Taken: owner != nil, Updated: owner != nil && p.Labels["controller-revision-hash"] == revision, Going: p.DeletionTimestamp != nil}
		d.Available = !d.Going && ready(&p)
		out = append(out, d)
	}
	return out
}

func ready(p *corev1.Pod) bool {
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

// A handover is on record in a ConfigMap, which more people may write than may write
// DaemonSets, and objects are made of it. This file says what a record may hold at all, and
// what of it only its word vouches for.

// check returns an error for a record that no handover of this DaemonSet has written.
func (h *Handover) check(namespace, name string) error {
	from, to := migrate.Of(h.Record.From.Group, h.Record.From.Kind), migrate.Of(h.Record.To.Group, h.Record.To.Kind)
	if from == nil || to == nil || from == to || from.Kind != kruise.KindDaemonSet || to.Kind != kruise.KindDaemonSet || h.Record.From.Name != name || h.Record.To.Name != name {
		return fmt.Errorf("%s to %s is not a migration of the DaemonSet %s", h.Record.From, h.Record.To, name)
	}
	for _, side := range []struct {
		object *unstructured.Unstructured
		of     *migrate.Kind
	}{{h.Old, from}, {h.New, to}} {
		if err := held(side.object, namespace, schema.GroupKind{Group: side.of.Group, Kind: side.of.Kind}); err != nil {
			return err
		}
		if side.object.GetName() != name {
			return fmt.Errorf("it holds another object, %s", titleOf(side.object))
		}
	}
	var guards []schema.GroupKind
	for _, f := range followed {
		if f.fixed {
			guards = append(guards, f.GroupKind)
		}
	}
	for _, g := range h.Guards {
		if err := held(g, namespace, guards...); err != nil {
			return err
		}
	}
	return nil
}

// held checks the kind and the namespace of an object in a record.
func held(u *unstructured.Unstructured, namespace string, kinds ...schema.GroupKind) error {
	switch {
	case u == nil || u.Object == nil:
		return errors.New("an object is missing in it")
	case !slices.Contains(kinds, u.GroupVersionKind().GroupKind()):
		return fmt.Errorf("it holds another object, %s of %s", titleOf(u), u.GetAPIVersion())
	case u.GetNamespace() != "" && u.GetNamespace() != namespace:
		return fmt.Errorf("it holds an object of another namespace, %s of %s", titleOf(u), u.GetNamespace())
	}
	return nil
}

// Digest identifies what a person approves with a handover: its sides, its pace and all
// objects that may be made of its record. clusterID is as for [plan.Plan.Digest].
func (h *Handover) Digest(clusterID, namespace string) string {
	r := h.Record
	text, err := json.Marshal([]any{"handover-1", clusterID, namespace, r.From, r.To, r.UID, r.Surge, h.Old, h.New, h.Guards})
	if err != nil {
		return "" // decoded JSON always encodes
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// Unproven returns the objects that would be made as the record has them, because they are
// not in the cluster.
func (c *Client) Unproven(ctx context.Context, h *Handover) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	there, err := c.Get(ctx, migrate.Of(h.Record.To.Group, h.Record.To.Kind), h.Record.To.Name)
	if err != nil {
		return nil, err
	}
	if there == nil {
		out = append(out, h.New)
	}
	for _, g := range h.Guards {
		gvr, ok, err := c.optional(g.GroupVersionKind().GroupKind())
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if _, err = c.of(gvr).Get(ctx, g.GetName(), metav1.GetOptions{}); apierrors.IsNotFound(err) {
			out = append(out, g)
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}
