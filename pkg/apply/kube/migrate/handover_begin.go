package migrate

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// BeginHandover puts a handover on record, with all that has to be made again.
func (c *Client) BeginHandover(ctx context.Context, h *Handover, a *Around) error {
	h.client, h.followers = c, a.Followers
	var err error
	if h.from, err = c.Version(migrate.Of(h.Record.From.Group, h.Record.From.Kind)); err != nil {
		return err
	}
	if h.to, err = c.Version(migrate.Of(h.Record.To.Group, h.Record.To.Kind)); err != nil {
		return err
	}
	if err := h.gather(); err != nil {
		return err
	}
	return h.keep(ctx)
}

// Check has the server check the new workload, without making it.
func (c *Client) Check(ctx context.Context, h *Handover) error {
	dry := *c
	dry.DryRun = true
	return h.create(ctx, &dry)
}

// watch waits until everything is known: what is not there decides as much as what is.
func (h *Handover) watch(ctx context.Context) (*watched, error) {
	w := h.client.watched()
	selector, _, _ := unstructured.NestedMap(h.New.Object, "spec", "selector")
	pods, err := selectorOf(selector)
	if err != nil {
		return nil, err
	}
	var synced []cache.InformerSynced
	for gvr, which := range map[schema.GroupVersionResource]func(*metav1.ListOptions){
		h.from: named(h.Record.From.Name), h.to: named(h.Record.To.Name), configMaps: named(Kept(h.Record.To.Name)),
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
