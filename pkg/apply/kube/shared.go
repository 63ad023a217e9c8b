package kube

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Shared is what many workloads that are opened at a time have in common: their clients, and
// one list and one watch for each kind of object in each namespace, however many workloads
// there are.
type Shared struct {
	core    kubernetes.Interface
	dynamic dynamic.Interface
	config  *rest.Config
	ctx     context.Context //nolint:containedctx // watches live as long as what they are for
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	streams map[string]*stream
	begun   int

	leases leaseSightings

	reviewing sync.Mutex
	reviews   map[reviewKey]*review
}

// reviewKey is a kind of request that the server is asked about.
type reviewKey struct{ namespace, verb, group, resource, subresource string }

// review is the server's answer.
type review struct {
	once   sync.Once
	denied bool
}

// denied is the answer to a question that is asked once, by the first who needs it.
func (s *Shared) denied(key reviewKey, ask func() bool) bool {
	s.reviewing.Lock()
	if s.reviews == nil {
		s.reviews = map[reviewKey]*review{}
	}
	if s.reviews[key] == nil {
		s.reviews[key] = &review{}
	}
	r := s.reviews[key]
	s.reviewing.Unlock()
	r.once.Do(func() { r.denied = ask() })
	return r.denied
}

// OpenShared makes the clients. Close ends the watches.
func OpenShared(ctx context.Context, cfg *rest.Config) (*Shared, error) {
	s, err := newClients(cfg)
	if err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s, nil
}

func newClients(cfg *rest.Config) (*Shared, error) {
	s := &Shared{config: rest.CopyConfig(cfg), streams: map[string]*stream{}}
	// Queries per second and at once: the server's own priority and fairness decides what is too much.
	s.config.QPS, s.config.Burst = 50, 300
	var err error
	if s.dynamic, err = dynamic.NewForConfig(s.config); err != nil {
		return nil, err
	}
	s.core, err = kubernetes.NewForConfig(withProtobuf(s.config))
	return s, err
}

// Close ends the watches.
func (s *Shared) Close() { s.cancel(errClosed) }

// Watches is how many watches were begun.
func (s *Shared) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// follow keeps a mirror up to date with the part of a stream that a source selects. It is
// [follow] for a source that others use, too.
func (s *Shared) follow(ctx context.Context, from source, into mirrorStore) error {
	part, err := from.selection()
	if err != nil {
		return err
	}
	st := s.stream(from)
	select {
	case <-st.ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if st.err != nil {
		return st.err
	}
	r := &streamReader{part, into}
	if err := st.addReader(r); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { st.removeReader(r) })
	return nil
}

// selection is what selects the objects of a source.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func (s source) selection() (out selection, err error) {
	if out.labels, err = labels.Parse(s.selector); err != nil {
		return out, err
	}
	if out.fields, err = fields.ParseSelector(s.fields); err != nil {
		return out, err
	}
	for _, r := range out.fields.Requirements() {
		if r.Field != "metadata.name" {
			return out, fmt.Errorf("%s cannot be shared: they are selected by %s", s.description, r.Field)
		}
	}
	return out, nil
}

func (s selection) selects(o metav1.Object) bool {
	return s.labels.Matches(labels.Set(o.GetLabels())) && s.fields.Matches(fields.Set{"metadata.name": o.GetName()})
}

// stream is the one of a source, which starts when it is needed first. One that could not
// start is tried again.
func (s *Shared) stream(from source) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.streams[from.key]; st != nil {
		return st
	}
	from.fields, from.selector = "", from.common
	st := &stream{source: from, ready: make(chan struct{}), objects: map[string]runtime.Object{}, readers: map[*streamReader]bool{}}
	s.streams[from.key] = st
	s.begun++
	go func() {
		defer close(st.ready)
		if st.err = st.begin(s.ctx); st.err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.streams, from.key)
		}
	}()
	return st
}

// stream is one list and one watch, with the objects as they are now.
type stream struct {
	source source
	// ready is closed when the first list is there, or has failed; err says why.
	ready chan struct{}
	err   error

	mu      sync.Mutex
	objects map[string]runtime.Object
	version string
	readers map[*streamReader]bool
}

// streamReader is a mirror that shows a part of a stream.
type streamReader struct {
	selection
	into mirrorStore
}

// mirrorStore is what a stream writes to a mirror.
type mirrorStore interface {
	put(obj any) error
	delete(obj any) error
	replace(list []any, version string) error
}

// begin lists and watches, and returns when the list is there.
func (st *stream) begin(ctx context.Context) error {
	first := &firstList{ready: make(chan struct{}), failed: make(chan error, 1)}
	quiet := logr.Discard()
	lw := listerWatcher(st.source, first, withoutManagedFields)
	r := cache.NewReflectorWithOptions(lw, st.source.example, streamStore{st, first}, cache.ReflectorOptions{Logger: &quiet, Name: st.source.description, Backoff: new(watchBackoff)})
	return first.await(ctx, st.source, r.RunWithContext)
}

// withoutManagedFields is a page of a list without the managed fields, which are not read.
func withoutManagedFields(page runtime.Object) (*internalversion.List, error) {
	return convertedPage(page, func(o runtime.Object) (runtime.Object, error) {
		dropManagedFields(o)
		return o, nil
	})
}

func dropManagedFields(o any) {
	if m, err := meta.Accessor(o); err == nil {
		m.SetManagedFields(nil)
	}
}

// addReader fills a reader with what there is, and keeps it up to date.
func (st *stream) addReader(r *streamReader) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.readers[r] = true
	return st.replaceIn(r)
}

func (st *stream) removeReader(r *streamReader) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.readers, r)
}

func (st *stream) replaceIn(r *streamReader) error {
	var list []any
	for _, o := range st.objects {
		if m, err := meta.Accessor(o); err == nil && r.selects(m) {
			list = append(list, o)
		}
	}
	return r.into.replace(list, st.version)
}

// put passes a version of an object to its readers. Those whose selector it no longer
// matches delete it.
func (st *stream) put(obj any) error {
	o, ok := obj.(runtime.Object)
	if !ok {
		return fmt.Errorf("unexpected %T", obj)
	}
	dropManagedFields(o)
	now, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	key := now.GetNamespace() + "/" + now.GetName()
	before := st.objects[key]
	st.objects[key], st.version = o, now.GetResourceVersion()
	for r := range st.readers {
		switch {
		case r.selects(now):
			err = r.into.put(o)
		case before != nil && selectedBefore(r, before):
			err = r.into.delete(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func selectedBefore(r *streamReader, before runtime.Object) bool {
	m, err := meta.Accessor(before)
	return err == nil && r.selects(m)
}

// delete removes an object from its readers.
func (st *stream) delete(obj any) error {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	before := st.objects[o.GetNamespace()+"/"+o.GetName()]
	delete(st.objects, o.GetNamespace()+"/"+o.GetName())
	for r := range st.readers {
		if r.selects(o) || before != nil && selectedBefore(r, before) {
			if err := r.into.delete(obj); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace stores a new list.
func (st *stream) replace(list []any, version string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.objects, st.version = make(map[string]runtime.Object, len(list)), version
	for _, obj := range list {
		o, ok := obj.(runtime.Object)
		if !ok {
			return fmt.Errorf("unexpected %T", obj)
		}
		dropManagedFields(o)
		m, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		st.objects[m.GetNamespace()+"/"+m.GetName()] = o
	}
	for r := range st.readers {
		if err := st.replaceIn(r); err != nil {
			return err
		}
	}
	return nil
}

// streamStore is a stream as a reflector fills it.
type streamStore struct {
	*stream
	firstList *firstList
}

// Add, Update, Delete, Replace and Resync are what a reflector calls.
func (i streamStore) Add(obj any) error { return i.put(obj) }

// Update is Add.
func (i streamStore) Update(obj any) error { return i.put(obj) }

// Delete removes an object.
func (i streamStore) Delete(obj any) error { return i.delete(obj) }

// Replace stores a list.
func (i streamStore) Replace(list []any, version string) error {
	err := i.replace(list, version)
	if err == nil {
		i.firstList.once.Do(func() { close(i.firstList.ready) })
	}
	return err
}

// Resync has nothing to do.
func (i streamStore) Resync() error { return nil }
