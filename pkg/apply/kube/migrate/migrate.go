// Package migrate carries migrations of replicas out: it reads both workloads and
// what refers to them, writes what pkg/plan/migrate decides, and keeps the record in
// the cluster. Every write depends on what was read, so that two processes of the same
// migration, or one who was killed and comes back, do nothing twice.
package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// manager is the name under which is written.
const manager = "kubectl-kruise"

// Client reads and writes what takes part in migrations of one namespace.
type Client struct {
	dynamic   dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string
	// DryRun has the server answer without writing.
	DryRun bool
}

// New returns a client; it sends nothing yet.
func New(cfg *rest.Config, namespace string) (*Client, error) {
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{namespace: namespace, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}
	c.dynamic, err = dynamic.NewForConfig(cfg)
	return c, err
}

// Version is the API version that the server prefers for a kind. It is an error that
// the server has no such kind.
func (c *Client) Version(kind *migrate.Kind) (schema.GroupVersionResource, error) {
	m, err := c.mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("the server has no %s: %w", kind.Word, err)
	}
	return m.Resource, nil
}

// Get reads a workload; nil where there is none.
func (c *Client) Get(ctx context.Context, kind *migrate.Kind, name string) (*unstructured.Unstructured, error) {
	gvr, err := c.Version(kind)
	if err != nil {
		return nil, err
	}
	got, err := c.resource(gvr).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	return got, err
}

// Create makes a workload, in the version that it is written in.
func (c *Client) Create(ctx context.Context, kind *migrate.Kind, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	gvr, err := c.Version(kind)
	if err != nil {
		return nil, err
	}
	return c.resource(gvr).Create(ctx, u, metav1.CreateOptions{FieldManager: manager, DryRun: c.dryRun()})
}

func (c *Client) resource(gvr schema.GroupVersionResource) dynamic.ResourceInterface {
	return c.dynamic.Resource(gvr).Namespace(c.namespace)
}

func (c *Client) dryRun() []string {
	if c.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// merge sends a merge patch that only holds for an object as it was read.
func (c *Client) merge(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured, patch map[string]any) error {
	meta, _ := patch["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["resourceVersion"], meta["uid"] = u.GetResourceVersion(), string(u.GetUID())
	patch["metadata"] = meta
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = c.resource(gvr).Patch(ctx, u.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager, DryRun: c.dryRun()})
	return err
}

// annotated is the merge patch of the record; nil takes it away.
func annotated(value any) map[string]any {
	return annotations(map[string]any{migrate.Annotation: value})
}

func annotations(values map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": values}}
}

// note writes the record onto an object, or takes it away, whatever else changes
// meanwhile.
func (c *Client) note(ctx context.Context, gvr schema.GroupVersionResource, name string, value any) error {
	for {
		u, err := c.resource(gvr).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if have, ok := u.GetAnnotations()[migrate.Annotation]; value == nil && !ok || have == value {
			return nil
		}
		if err := c.merge(ctx, gvr, u, annotated(value)); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// SideOf reads the numbers of a workload.
func SideOf(u *unstructured.Unstructured) migrate.Side {
	s := migrate.Side{UID: string(u.GetUID()), Replicas: 1}
	if n, ok, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); ok {
		s.Replicas = int32(n)
	}
	number := func(field string) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
		return n
	}
	s.Exist, s.Available = int32(number("replicas")), int32(number("availableReplicas"))
	s.Observed = number("observedGeneration") >= u.GetGeneration()
	return s
}

// RecordOf reads the recorded migration to a workload; nil for none.
func RecordOf(u *unstructured.Unstructured) (*migrate.Record, error) {
	text, ok := u.GetAnnotations()[migrate.Annotation]
	if !ok {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	r, err := migrate.Decode(text)
	return &r, err
}

// WorkloadOf names an object.
func WorkloadOf(u *unstructured.Unstructured) migrate.Workload {
	return migrate.Workload{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Name: u.GetName()}
}

// Labels are those of a workload's pods.
func Labels(u *unstructured.Unstructured) map[string]string {
	m, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
	return m
}

// Migration is one that is in progress.
type Migration struct {
	client *Client
	Record migrate.Record
	// To is the workload that replicas move to.
	To       migrate.Workload
	from, to schema.GroupVersionResource
	around   *Surroundings
}

// Begin records a migration. One that is recorded already continues; the way back
// takes the place of the way there.
func (c *Client) Begin(ctx context.Context, r migrate.Record, to migrate.Workload, a *Surroundings) (*Migration, error) {
	m := &Migration{client: c, Record: r, To: to, around: a}
	var err error
	if m.from, err = c.Version(migrate.Of(r.From.Group, r.From.Kind)); err != nil {
		return nil, err
	}
	if m.to, err = c.Version(migrate.Of(to.Group, to.Kind)); err != nil {
		return nil, err
	}
	if err := c.note(ctx, m.to, to.Name, r.Encode()); err != nil {
		return nil, err
	}
	if err := c.note(ctx, m.from, r.From.Name, nil); err != nil {
		return nil, err
	}
	for _, s := range a.Scalers {
		if err := c.suspendScaler(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return m, c.createTwins(ctx, a.Followers, m.to, to)
}

// haltError reports that a migration cannot continue by itself.
type haltError struct{ Reason string }

func (e *haltError) Error() string { return e.Reason }

// Run moves replicas until all have moved. Whenever it ends before, Begin and Run go
// on from there. told is called with every decision that differs from the one before.
func (m *Migration) Run(ctx context.Context, told func(migrate.Decision)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w, err := m.watch(ctx)
	if err != nil {
		return err
	}
	var last migrate.Decision
	for {
		d, err := m.step(ctx, w)
		switch {
		case err != nil:
			return err
		case d == nil:
		case d.Verb == migrate.Halt:
			return &haltError{d.Why}
		case *d != last:
			told(*d)
			last = *d
		}
		if d != nil && d.Verb == migrate.Done {
			return m.finish(ctx)
		}
		if err := w.await(ctx, nil); err != nil {
			return err
		}
	}
}

// step decides and writes; nil where a side is not there, or changed meanwhile: the
// watch rings again.
func (m *Migration) step(ctx context.Context, w *migrationWatch) (*migrate.Decision, error) {
	source, destination := w.object(m.from, m.Record.From.Name), w.object(m.to, m.To.Name)
	if source == nil || destination == nil {
		return nil, m.missing(ctx)
	}
	if w.uncounted.Load() > 0 {
		return nil, nil //nolint:nilnil // it rings when the budgets are known
	}
	if name := w.scaledByKEDA(m.Record.From, m.To); name != "" {
		return &migrate.Decision{Verb: migrate.Wait, Reserve: -1, Why: "KEDA has not taken " + name + " away yet"}, nil
	}
	d := migrate.Next(m.Record, SideOf(source), SideOf(destination), w.budgets(m.Record.From, Labels(source)))
	var err error
	switch d.Verb {
	case migrate.Grow:
		err = m.scale(ctx, m.to, destination, d)
	case migrate.Shrink:
		err = m.scale(ctx, m.from, source, d)
	}
	if apierrors.IsConflict(err) {
		return nil, nil //nolint:nilnil // the watch brings what changed
	}
	return &d, err
}

// missing distinguishes a side that was deleted from one that the watch has not brought yet.
func (m *Migration) missing(ctx context.Context) error {
	for _, w := range []migrate.Workload{m.Record.From, m.To} {
		u, err := m.client.Get(ctx, migrate.Of(w.Group, w.Kind), w.Name)
		if err != nil {
			return err
		}
		if u == nil {
			return &haltError{w.String() + " was deleted"}
		}
	}
	return nil
}

// scale writes replicas, and whose the ordinals are.
func (m *Migration) scale(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured, d migrate.Decision) error {
	spec := map[string]any{"replicas": d.Replicas}
	if d.Reserve >= 0 {
		reserved := make([]int32, d.Reserve)
		for i := range reserved {
			reserved[i] = m.Record.First + int32(i)
		}
		spec["reserveOrdinals"] = reserved
	}
	err := m.client.merge(ctx, gvr, u, map[string]any{"spec": spec})
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("cannot scale %s to %d: %w", WorkloadOf(u), d.Replicas, err)
	}
	return err
}

// finish has scalers follow, and what names the source where all have moved; then it
// takes the record away.
func (m *Migration) finish(ctx context.Context) error {
	for _, s := range m.around.Scalers {
		if err := m.client.pointScaler(ctx, s, m.to, m.To); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	if m.Record.Replicas == m.Record.Source {
		if err := m.client.follow(ctx, m.around.Followers, m.to, m.To); err != nil {
			return err
		}
	}
	if err := m.client.note(ctx, m.to, m.To.Name, nil); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
