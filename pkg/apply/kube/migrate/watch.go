package migrate

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// watched is what a migration decides on, kept up to date.
type watched struct {
	namespace string
	stores    map[string]cache.Store
	bell      chan struct{}
	faults    chan error
	// counted says that the budgets are known, or may not be.
	counted atomic.Bool
}

// watch begins to watch both sides and the budgets.
func (m *Migration) watch(ctx context.Context) (*watched, error) {
	w := &watched{namespace: m.client.namespace, stores: map[string]cache.Store{}, bell: make(chan struct{}, 1), faults: make(chan error, 1)}
	for _, one := range []struct {
		gvr  schema.GroupVersionResource
		name string
	}{{m.from, m.Record.From.Name}, {m.to, m.To.Name}, {budgets, ""}} {
		if err := w.add(ctx, m.client, one.gvr, one.name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add watches one object, or all of a kind. That budgets may not be watched is no
// error: whoever began was told.
func (w *watched) add(ctx context.Context, c *Client, gvr schema.GroupVersionResource, name string) error {
	informer := dynamicinformer.NewFilteredDynamicInformer(c.dynamic, gvr, w.namespace, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		if name != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}).Informer()
	ring := func(any) { w.ring() }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: ring, DeleteFunc: ring, UpdateFunc: func(_, o any) { ring(o) }}); err != nil {
		return err
	}
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		switch {
		case !apierrors.IsForbidden(err):
		case gvr == budgets:
			w.counted.Store(true)
			w.ring()
		default:
			w.fail(fmt.Errorf("cannot watch %s: %w", gvr.Resource, err))
		}
	})
	if err != nil {
		return err
	}
	w.stores[gvr.String()] = informer.GetStore()
	go informer.RunWithContext(ctx)
	if gvr == budgets {
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				w.counted.Store(true)
				w.ring()
			}
		}()
	}
	return nil
}

func (w *watched) fail(err error) {
	select {
	case w.faults <- err:
	default:
	}
}

func (w *watched) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// object is the newest that is known of an object; nil before that.
func (w *watched) object(gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	o, ok, err := w.stores[gvr.String()].GetByKey(w.namespace + "/" + name)
	if err != nil || !ok {
		return nil
	}
	u, _ := o.(*unstructured.Unstructured)
	return u
}

// budgets are those over pods with these labels.
func (w *watched) budgets(pods map[string]string) []migrate.Budget {
	var out []migrate.Budget
	for _, o := range w.stores[budgets.String()].List() {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if b, selector := budgetOf(u); b != nil && selector.Matches(labels.Set(pods)) {
			out = append(out, *b)
		}
	}
	return out
}
