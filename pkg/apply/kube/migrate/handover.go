package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Keys of the ConfigMap that a handover is kept in.
const (
	keyRecord = "record"
	keyOld    = "old"
	keyNew    = "new"
	keyGuards = "guards"
)

// HandoverName is the name of the ConfigMap that the handover of a DaemonSet is kept in, in
// either direction.
func HandoverName(name string) string { return "kubectl-kruise-migration-daemonset-" + name }

// Handover is the migration of a DaemonSet. Between the deletion of the old object and
// the creation of the new one neither is in the cluster: both are kept in a ConfigMap
// from before the one until after the other.
type Handover struct {
	Record migrate.Handover
	// Old is the object as it was, New as it will be in the end.
	Old, New *unstructured.Unstructured
	// Guards name the workload in a targetRef that cannot change: they are recreated
	// under their names, which pods remember, once the new workload is there.
	Guards []*unstructured.Unstructured

	client    *Client
	from, to  schema.GroupVersionResource
	followers []Follower
	// guarded indicates that all guards cover the new workload.
	guarded bool
}

// HandoverOf reads the recorded handover of a DaemonSet; nil for none.
func (c *Client) HandoverOf(ctx context.Context, name string) (*Handover, error) {
	u, err := c.resource(configMaps).Get(ctx, HandoverName(name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	if err != nil {
		return nil, err
	}
	h := &Handover{}
	if err := h.read(u); err != nil {
		return nil, err
	}
	if err := h.check(c.namespace, name); err != nil {
		return nil, fmt.Errorf("configmap/%s holds no migration that was begun here: %w", u.GetName(), err)
	}
	return h, nil
}

func (h *Handover) read(u *unstructured.Unstructured) error {
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	for key, into := range map[string]any{keyRecord: &h.Record, keyOld: &h.Old, keyNew: &h.New, keyGuards: &h.Guards} {
		if err := json.Unmarshal([]byte(data[key]), into); err != nil {
			return fmt.Errorf("configmap/%s: %s: %w", u.GetName(), key, err)
		}
	}
	return nil
}

// store records the handover, in the place of one the other way.
func (h *Handover) store(ctx context.Context) error {
	data := map[string]any{}
	for key, value := range map[string]any{keyRecord: h.Record, keyOld: h.Old, keyNew: h.New, keyGuards: h.Guards} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		data[key] = string(text)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": HandoverName(h.Record.To.Name), "labels": map[string]any{"app.kubernetes.io/managed-by": manager}},
		"data":     data,
	}}
	client := h.client.resource(configMaps)
	_, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there, err := client.Get(ctx, u.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	return h.client.merge(ctx, configMaps, there, map[string]any{"data": data})
}

// recordNext records the pods that are next, unless another process was faster.
func (h *Handover) recordNext(ctx context.Context, kept *unstructured.Unstructured, pods []migrate.Daemon) error {
	r := h.Record
	r.Turn = nil
	for _, p := range pods {
		r.Turn = append(r.Turn, p.UID)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return h.client.merge(ctx, configMaps, kept, map[string]any{"data": map[string]any{keyRecord: string(text)}})
}

// deleteRecord takes the handover off the record as it was seen: one that another process has
// recorded in its place since, the other way, holds the only copy of its workload.
func (h *Handover) deleteRecord(ctx context.Context, kept *unstructured.Unstructured) error {
	uid, version := kept.GetUID(), kept.GetResourceVersion()
	as := &metav1.Preconditions{UID: &uid, ResourceVersion: &version}
	err := h.client.resource(configMaps).Delete(ctx, kept.GetName(), metav1.DeleteOptions{Preconditions: as})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// BeginHandover records a handover, with all that must be created again.
func (c *Client) BeginHandover(ctx context.Context, h *Handover, a *Surroundings) error {
	h.client, h.followers = c, a.Followers
	var err error
	if h.from, err = c.Version(migrate.Of(h.Record.From.Group, h.Record.From.Kind)); err != nil {
		return err
	}
	if h.to, err = c.Version(migrate.Of(h.Record.To.Group, h.Record.To.Kind)); err != nil {
		return err
	}
	if err := h.collectGuards(); err != nil {
		return err
	}
	return h.store(ctx)
}

// Check has the server check the new workload, without making it.
func (c *Client) Check(ctx context.Context, h *Handover) error {
	dry := *c
	dry.DryRun = true
	return h.create(ctx, &dry)
}

// watch waits until everything is known: what is not there decides as much as what is.
func (h *Handover) watch(ctx context.Context) (*migrationWatch, error) {
	w := h.client.watched()
	selector, _, _ := unstructured.NestedMap(h.New.Object, "spec", "selector")
	pods, err := selectorOf(selector)
	if err != nil {
		return nil, err
	}
	var synced []cache.InformerSynced
	for gvr, which := range map[schema.GroupVersionResource]func(*metav1.ListOptions){
		h.from: named(h.Record.From.Name), h.to: named(h.Record.To.Name), configMaps: named(HandoverName(h.Record.To.Name)),
		podsResource: pods, revisions: func(*metav1.ListOptions) {},
	} {
		one, err := w.add(ctx, h.client, gvr, which, w.cannot(gvr))
		if err != nil {
			return nil, err
		}
		synced = append(synced, one)
	}
	known := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), synced...) {
			close(known)
		}
	}()
	select {
	case <-known:
		return w, nil
	case err := <-w.faults:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// selectorOf wants the objects that a label selector matches.
func selectorOf(selector map[string]any) (func(*metav1.ListOptions), error) {
	var s metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &s); err != nil {
		return nil, err
	}
	labels, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return nil, err
	}
	if labels.Empty() {
		return nil, errors.New("an empty selector would take over every pod")
	}
	return func(o *metav1.ListOptions) { o.LabelSelector = labels.String() }, nil
}

// HandoverStep is what a handover is at.
type HandoverStep struct {
	// Done is what has just been written, or "".
	Done string
	// Turn is how far the pods are, once the new workload has them.
	Turn migrate.Turn
	// Why is what is waited for, or "".
	Why string
}

// rereadInterval is the interval at which what cannot be watched is read again: not every budget
// that frees itself says so.
const rereadInterval = 3 * time.Second

// Run hands over until the end. Whenever it ends before, Begin and Run continue from
// there. told is called with every step that differs from the one before.
func (h *Handover) Run(ctx context.Context, told func(HandoverStep)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w, err := h.watch(ctx)
	if err != nil {
		return err
	}
	var last HandoverStep
	for {
		s, err := h.step(ctx, w)
		if err != nil && !apierrors.IsConflict(err) {
			return err
		}
		if err == nil && !reflect.DeepEqual(s, last) {
			told(s)
			last = s
		}
		if err == nil && s.Turn.Verb == migrate.Done {
			return nil
		}
		var refused <-chan time.Time
		if err == nil && s.Why != "" && (s.Turn.Verb == migrate.Replace || s.Turn.Verb == "") {
			refused = time.After(rereadInterval)
		}
		if err := w.await(ctx, refused); err != nil {
			return err
		}
	}
}

// step does the one thing that is to be done now. It depends on what is in the cluster
// alone.
func (h *Handover) step(ctx context.Context, w *migrationWatch) (HandoverStep, error) {
	kept := w.object(configMaps, HandoverName(h.Record.To.Name))
	old, now := w.object(h.from, h.Record.From.Name), w.object(h.to, h.Record.To.Name)
	switch {
	case kept == nil:
		return h.ended(now)
	case !h.isOwn(kept):
		return HandoverStep{}, &haltError{"it was turned back"}
	case old != nil && string(old.GetUID()) != h.Record.UID:
		return HandoverStep{}, &haltError{fmt.Sprintf("another %s was created", h.title(h.Record.From))}
	case old != nil && old.GetDeletionTimestamp() == nil:
		return h.deleteOld(ctx, old)
	case old != nil:
		return wait("%s is being deleted; finalizers %v", h.title(h.Record.From), old.GetFinalizers()), nil
	case now == nil:
		return h.createNew(ctx)
	case now.GetDeletionTimestamp() != nil:
		return wait("the %s before is being deleted", h.title(h.Record.To)), nil
	case selects(now) != selects(h.New): // which never changes of one object
		return HandoverStep{}, &haltError{fmt.Sprintf("another %s was created, which does not select its pods; configmap/%s keeps both", h.title(h.Record.To), kept.GetName())}
	case now.GetAnnotations()[migrate.Annotation] == "" && !wroteHere(now):
		return HandoverStep{}, &haltError{fmt.Sprintf("another %s was created by others; configmap/%s keeps both", h.title(h.Record.To), kept.GetName())}
	case now.GetAnnotations()[migrate.Annotation] == "":
		return HandoverStep{Turn: migrate.Turn{Verb: migrate.Done}}, h.deleteRecord(ctx, kept)
	}
	if s, err := h.guard(ctx); err != nil || s.Why != "" {
		return s, err
	}
	return h.pods(ctx, w, kept, now)
}

// wroteHere reports whether this program has written an object, as its end of a handover does. Where the
// server tells of no writer, it may have.
func wroteHere(u *unstructured.Unstructured) bool {
	writers := u.GetManagedFields()
	return len(writers) == 0 || slices.ContainsFunc(writers, func(w metav1.ManagedFieldsEntry) bool { return w.Manager == manager })
}

// selects is the label selector of a workload, in one spelling.
func selects(u *unstructured.Unstructured) string {
	var s metav1.LabelSelector
	selector, _, _ := unstructured.NestedMap(u.Object, "spec", "selector")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &s); err != nil {
		return err.Error()
	}
	return metav1.FormatLabelSelector(&s)
}

func wait(format string, args ...any) HandoverStep {
	return HandoverStep{Why: fmt.Sprintf(format, args...)}
}

// ended is where the record is gone: another process has completed it.
func (h *Handover) ended(now *unstructured.Unstructured) (HandoverStep, error) {
	if now == nil {
		return HandoverStep{}, &haltError{"configmap/" + HandoverName(h.Record.To.Name) + " was deleted"}
	}
	return HandoverStep{Turn: migrate.Turn{Verb: migrate.Done}}, nil
}

// isOwn reports whether a record is of this very handover.
func (h *Handover) isOwn(kept *unstructured.Unstructured) bool {
	there := &Handover{}
	return there.read(kept) == nil && there.Record.From == h.Record.From && there.Record.UID == h.Record.UID
}

func (h *Handover) title(w migrate.Workload) string {
	return migrate.Of(w.Group, w.Kind).Word + "/" + w.Name
}

// deleteOld deletes the old workload and leaves its pods, once the server has reported that
// it would take the new one.
func (h *Handover) deleteOld(ctx context.Context, old *unstructured.Unstructured) (HandoverStep, error) {
	dry := *h.client
	dry.DryRun = true
	if err := h.create(ctx, &dry); err != nil {
		return HandoverStep{}, fmt.Errorf("nothing was touched: the server does not take %s: %w", h.title(h.Record.To), err)
	}
	uid, leave := old.GetUID(), metav1.DeletePropagationOrphan
	err := h.client.resource(h.from).Delete(ctx, old.GetName(), metav1.DeleteOptions{PropagationPolicy: &leave, Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return HandoverStep{}, err
	}
	return HandoverStep{Done: h.title(h.Record.From) + " deleted; its pods stay"}, nil
}

// createNew creates the new workload. It replaces no pod by itself until the end.
func (h *Handover) createNew(ctx context.Context) (HandoverStep, error) {
	if err := h.create(ctx, h.client); err != nil && !apierrors.IsAlreadyExists(err) {
		return HandoverStep{}, fmt.Errorf("cannot create %s, which is kept in configmap/%s: %w", h.title(h.Record.To), HandoverName(h.Record.To.Name), err)
	}
	return HandoverStep{Done: h.title(h.Record.To) + " created"}, nil
}

func (h *Handover) create(ctx context.Context, c *Client) error {
	u := h.New.DeepCopy()
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[migrate.Annotation] = h.Record.From.String()
	u.SetAnnotations(annotations)
	if err := unstructured.SetNestedMap(u.Object, map[string]any{"type": "OnDelete"}, "spec", "updateStrategy"); err != nil {
		return err
	}
	_, err := c.Create(ctx, migrate.Of(h.Record.To.Group, h.Record.To.Kind), u)
	return err
}

// finish gives the new workload its own update strategy, has followers follow, and
// takes the record away.
func (h *Handover) finish(ctx context.Context, kept, now *unstructured.Unstructured) error {
	patch := annotated(nil)
	strategy, _, _ := unstructured.NestedMap(h.New.Object, "spec", "updateStrategy")
	if strategy == nil {
		strategy = map[string]any{"type": "RollingUpdate"}
	}
	patch["spec"] = map[string]any{"updateStrategy": strategy}
	for _, f := range h.followers {
		if f.Twin == "" {
			if err := h.client.pointAt(ctx, f, h.to, h.Record.To); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s/%s: %w", f.Resource, f.Name, err)
			}
		}
	}
	if err := h.client.merge(ctx, h.to, now, patch); err != nil {
		return err
	}
	return h.deleteRecord(ctx, kept)
}

// collectGuards takes up what has to be made again, and has it name the new workload: as it is in
// the cluster, or as it is recorded where it is nowhere else.
func (h *Handover) collectGuards() error {
	list := h.Guards
	h.Guards = nil
	for _, f := range h.followers {
		if f.Twin == "" {
			continue
		}
		i := slices.IndexFunc(list, func(u *unstructured.Unstructured) bool {
			return u.GroupVersionKind().GroupKind() == f.object.GroupVersionKind().GroupKind() && u.GetName() == f.Name
		})
		if i < 0 {
			list = append(list, f.object)
		} else {
			list[i] = f.object
		}
	}
	for _, of := range list {
		u, err := recreated(of, of.GetName(), reference(h.to, h.Record.To))
		if err != nil {
			return err
		}
		h.Guards = append(h.Guards, u)
	}
	return nil
}

// guard creates the guards again, once the new workload exists, and waits until their
// controller has counted: pods ask for them by name. One that names something else by
// now is left alone.
func (h *Handover) guard(ctx context.Context) (HandoverStep, error) {
	if h.guarded {
		return HandoverStep{}, nil
	}
	for _, want := range h.Guards {
		gvr, ok, err := h.client.optional(want.GroupVersionKind().GroupKind())
		if err != nil || !ok {
			return HandoverStep{}, err
		}
		there, err := h.client.resource(gvr).Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = h.client.resource(gvr).Create(ctx, want, metav1.CreateOptions{FieldManager: manager})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return HandoverStep{}, err
			}
			return wait("%s looks after %s from now on", titleOf(want), h.title(h.Record.To)), nil
		case err != nil:
			return HandoverStep{}, err
		case targetOf(there, "targetRef") == h.Record.From:
			return wait("%s is recreated", titleOf(want)), h.delete(ctx, gvr, there)
		case targetOf(there, "targetRef") == h.Record.To && !SideOf(there).Observed:
			return wait("%s has not counted yet", titleOf(want)), nil
		}
	}
	h.guarded = true
	return HandoverStep{}, nil
}

// delete deletes the very object.
func (h *Handover) delete(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured) error {
	uid := u.GetUID()
	err := h.client.resource(gvr).Delete(ctx, u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func titleOf(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s", u.GetKind(), u.GetName())
}
