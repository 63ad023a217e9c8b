package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// migrationWatch is what a migration decides on, kept up to date.
type migrationWatch struct {
	namespace string
	stores    map[string]cache.Store
	changes   chan struct{}
	faults    chan error
	// covering are the kinds of budgets; uncounted is how many of them are not known
	// yet, and may be.
	covering  []schema.GroupVersionResource
	uncounted atomic.Int32
}

func (c *Client) watched() *migrationWatch {
	return &migrationWatch{namespace: c.namespace, stores: map[string]cache.Store{}, changes: make(chan struct{}, 1), faults: make(chan error, 1)}
}

// watch begins to watch both sides and the budgets. That budgets may not be watched is
// no error: it was reported at the beginning.
func (m *Migration) watch(ctx context.Context) (*migrationWatch, error) {
	w := m.client.watched()
	for gvr, name := range map[schema.GroupVersionResource]string{m.from: m.Record.From.Name, m.to: m.To.Name} {
		if _, err := w.add(ctx, m.client, gvr, named(name), w.cannot(gvr)); err != nil {
			return nil, err
		}
	}
	w.covering = []schema.GroupVersionResource{budgets}
	switch gvr, ok, err := m.client.optional(unavailableBudget); {
	case err != nil:
		return nil, err
	case ok:
		w.covering = append(w.covering, gvr)
	}
	counting := w.covering
	if slices.ContainsFunc(m.around.Scalers, Scaler.keda) {
		counting = append(slices.Clone(counting), scalers)
	}
	for _, gvr := range counting {
		w.uncounted.Add(1)
		counted := sync.OnceFunc(func() { w.uncounted.Add(-1); w.signal() })
		synced, err := w.add(ctx, m.client, gvr, func(*metav1.ListOptions) {}, func(error) { counted() })
		if err != nil {
			return nil, err
		}
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), synced) {
				counted()
			}
		}()
	}
	return w, nil
}

// named wants one object.
func named(name string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	}
}

// cannot ends everything where a kind may not be watched.
func (w *migrationWatch) cannot(gvr schema.GroupVersionResource) func(error) {
	return func(err error) { w.fail(fmt.Errorf("cannot watch %s: %w", gvr.Resource, err)) }
}

// add watches objects of a kind; refused is called where they may not be watched.
func (w *migrationWatch) add(ctx context.Context, c *Client, gvr schema.GroupVersionResource, which func(*metav1.ListOptions), refused func(error)) (cache.InformerSynced, error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(c.dynamic, gvr, w.namespace, 0, cache.Indexers{}, which).Informer()
	ring := func(any) { w.signal() }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: ring, DeleteFunc: ring, UpdateFunc: func(_, o any) { ring(o) }}); err != nil {
		return nil, err
	}
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) {
			refused(err)
		}
	})
	if err != nil {
		return nil, err
	}
	w.stores[gvr.String()] = informer.GetStore()
	go informer.RunWithContext(ctx)
	return informer.HasSynced, nil
}

// await returns when something has changed, or at a time that is not nil.
func (w *migrationWatch) await(ctx context.Context, at <-chan time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-w.faults:
		return err
	case <-w.changes:
	case <-at:
	}
	return nil
}

func (w *migrationWatch) fail(err error) {
	select {
	case w.faults <- err:
	default:
	}
}

func (w *migrationWatch) signal() {
	select {
	case w.changes <- struct{}{}:
	default:
	}
}

// object is the newest that is known of an object; nil before that.
func (w *migrationWatch) object(gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	o, ok, err := w.stores[gvr.String()].GetByKey(w.namespace + "/" + name)
	if err != nil || !ok {
		return nil
	}
	u, _ := o.(*unstructured.Unstructured)
	return u
}

// list are the newest that is known of the objects of a kind, in the order of names.
func (w *migrationWatch) list(gvr schema.GroupVersionResource) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range w.stores[gvr.String()].List() {
		if u, ok := o.(*unstructured.Unstructured); ok {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}

// scaledByKEDA names a scaler that KEDA has not taken away yet; "" for none.
func (w *migrationWatch) scaledByKEDA(sides ...migrate.Workload) string {
	if w.stores[scalers.String()] == nil {
		return ""
	}
	for _, u := range w.list(scalers) {
		if s := scalerOf(u, scalers); s.ByKEDA() && slices.Contains(sides, s.Of) {
			return s.String()
		}
	}
	return ""
}

// budgets are those over pods with these labels of a workload.
func (w *migrationWatch) budgets(of migrate.Workload, pods map[string]string) []migrate.Budget {
	var out []migrate.Budget
	for _, gvr := range w.covering {
		for _, u := range w.list(gvr) {
			if b := budgetFor(u, of, pods); b != nil {
				out = append(out, *b)
			}
		}
	}
	return out
}
