package kube

import (
	"context"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
)

// mirror keeps the objects of one resource as they are in the cluster, each read
// into a T. A watch fills it, and so do the answers to this process's writes, so that
// no decision is made on something older than these. It never goes back: an
// object is replaced only by a newer version of itself.
type mirror[T any] struct {
	// read turns an object into what is kept of it; an object that cannot be read is
	// left out, and is among the faults until it can be read, or is deleted.
	read    func(metav1.Object) (T, error)
	changes *changeSignal
	// source is where the objects come from.
	source source

	mu      sync.Mutex
	kept    map[string]mirrored[T]
	deleted map[types.UID]bool
	faults  map[string]error
	sorted  []T
}

type mirrored[T any] struct {
	uid     types.UID
	version string
	value   T
}

func newMirror[T any](changes *changeSignal, read func(metav1.Object) (T, error)) *mirror[T] {
	return &mirror[T]{read: read, changes: changes, kept: map[string]mirrored[T]{}, deleted: map[types.UID]bool{}, faults: map[string]error{}}
}

// list returns the values sorted by namespace and name. The list is shared and must
// not be changed.
func (m *mirror[T]) list() ([]T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sorted == nil {
		m.sorted = make([]T, 0, len(m.kept))
		for _, key := range slices.Sorted(maps.Keys(m.kept)) {
			if m.faults[key] == nil { // what it was before is not what it is
				m.sorted = append(m.sorted, m.kept[key].value)
			}
		}
	}
	return m.sorted, m.firstFault()
}

// unread is why objects are missing from the list, sorted by their names.
func (m *mirror[T]) unread() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []error
	for _, key := range slices.Sorted(maps.Keys(m.faults)) {
		out = append(out, m.faults[key])
	}
	return out
}

// firstFault is why something is missing from the list.
func (m *mirror[T]) firstFault() error {
	if len(m.faults) == 0 {
		return nil
	}
	return m.faults[slices.Min(slices.Collect(maps.Keys(m.faults)))]
}

// get returns the value of a name.
func (m *mirror[T]) get(namespace, name string) (value T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[namespace+"/"+name]
	return k.value, ok
}

// uid returns the UID of a name, "" for none.
func (m *mirror[T]) uid(namespace, name string) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[namespace+"/"+name].uid
}

// put stores a version of an object, from a watch or from an answer.
func (m *mirror[T]) put(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store(o) {
		m.notify()
	}
	return nil
}

// putWritten stores what was written under a name, as it was answered.
func (m *mirror[T]) putWritten(namespace, name string, uid types.UID, version string, value T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := namespace + "/" + name
	have, ok := m.kept[key]
	if m.deleted[uid] || ok && !newer(version, have.version) {
		return
	}
	m.kept[key] = mirrored[T]{uid, version, value}
	m.notify()
}

// store reports whether the object has changed.
func (m *mirror[T]) store(o metav1.Object) bool {
	key := o.GetNamespace() + "/" + o.GetName()
	have, ok := m.kept[key]
	switch {
	case m.deleted[o.GetUID()]:
		return false
	case ok && !newer(o.GetResourceVersion(), have.version):
		return false
	}
	value, err := m.valueOf(o)
	if err != nil {
		before := m.faults[key]
		m.faults[key] = err
		return before == nil || before.Error() != err.Error()
	}
	delete(m.faults, key)
	m.kept[key] = mirrored[T]{o.GetUID(), o.GetResourceVersion(), value}
	return true
}

// delete removes an object that was deleted.
func (m *mirror[T]) delete(obj any) error {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted[o.GetUID()] = true
	m.remove(o.GetNamespace()+"/"+o.GetName(), o.GetUID())
	return nil
}

// forget forgets the object of a uid that was not found on the server.
func (m *mirror[T]) forget(namespace, name string, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted[uid] = true
	m.remove(namespace+"/"+name, uid)
}

func (m *mirror[T]) remove(key string, uid types.UID) {
	_, faulty := m.faults[key]
	delete(m.faults, key)
	have, ok := m.kept[key]
	ok = ok && have.uid == uid
	if ok {
		delete(m.kept, key)
	}
	if ok || faulty {
		m.notify()
	}
}

// replace stores a list of all there was at a version. What was written since stays.
func (m *mirror[T]) replace(list []any, version string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	listed := map[string]types.UID{}
	for _, obj := range list {
		o, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		listed[o.GetNamespace()+"/"+o.GetName()] = o.GetUID()
		m.store(o)
	}
	maps.DeleteFunc(m.faults, func(key string, _ error) bool { _, ok := listed[key]; return !ok })
	for key, have := range m.kept {
		if uid, ok := listed[key]; (!ok || uid != have.uid) && !newer(have.version, version) {
			delete(m.kept, key)
		}
	}
	m.notify()
	return nil
}

// notify signals a change.
func (m *mirror[T]) notify() {
	m.sorted = nil
	m.changes.broadcast()
}

// newer compares resource versions of one resource; one that cannot be compared counts as
// newer, since a watch never goes back.
func newer(a, b string) bool {
	if a == b {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || order > 0
}

// reread lists all of a mirror's objects again, as they are now.
func (m *mirror[T]) reread(ctx context.Context) error {
	var all []any
	version := ""
	err := objects.EachPage(m.source.withSelectors(metav1.ListOptions{}), func(opt metav1.ListOptions) (next string, err error) {
		list, err := m.source.client.ListWithContext(ctx, opt)
		if err != nil {
			return "", err
		}
		page, err := m.readingsOf(list)
		if err != nil {
			return "", err
		}
		for _, o := range page.Items {
			all = append(all, o)
		}
		version = page.ResourceVersion
		return page.Continue, nil
	})
	if err != nil {
		return err
	}
	return m.replace(all, version)
}

// putAnswer stores the answer to a request for one object.
func putAnswer[T any](m *mirror[T], namespace, name string, got any, err error) error {
	if apierrors.IsNotFound(err) {
		if uid := m.uid(namespace, name); uid != "" {
			m.forget(namespace, name, uid)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return m.put(got)
}

// listOf is what a mirror shows, without what cannot be read; nothing without a mirror.
func listOf[T any](m *mirror[T]) []T {
	if m == nil {
		return nil
	}
	list, _ := m.list()
	return list
}

// reading is what a mirror keeps of an object on its way there. A list or a watch that
// begins with all there is has every object in memory before the mirror gets the first:
// ten thousand readings are a tenth of ten thousand pods.
type reading[T any] struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	value T
	err   error
}

// DeepCopyObject makes it a runtime.Object, which is never changed.
func (r *reading[T]) DeepCopyObject() runtime.Object { return r }

// readingOf reads an object; an error is part of the reading, and reported by the mirror.
func (m *mirror[T]) readingOf(obj any) (*reading[T], error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	r := &reading[T]{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
	}}
	r.value, r.err = m.read(o)
	return r, nil
}

// readingsOf reads the objects of a list, or of a page of one.
func (m *mirror[T]) readingsOf(page runtime.Object) (*internalversion.List, error) {
	return convertedPage(page, func(o runtime.Object) (runtime.Object, error) { return m.readingOf(o) })
}

// convertedPage is a page of a list with what convert makes of each object.
func convertedPage(page runtime.Object, convert func(runtime.Object) (runtime.Object, error)) (*internalversion.List, error) {
	from, err := meta.ListAccessor(page)
	if err != nil {
		return nil, err
	}
	out := &internalversion.List{ListMeta: metav1.ListMeta{
		ResourceVersion: from.GetResourceVersion(), Continue: from.GetContinue(), RemainingItemCount: from.GetRemainingItemCount(),
	}}
	return out, meta.EachListItem(page, func(o runtime.Object) error {
		converted, err := convert(o)
		out.Items = append(out.Items, converted)
		return err
	})
}

// valueOf is what is kept of an object that may have been read before.
func (m *mirror[T]) valueOf(o metav1.Object) (T, error) {
	if r, ok := o.(*reading[T]); ok {
		return r.value, r.err
	}
	return m.read(o)
}

// reflectorStore is a mirror as a reflector fills it.
type reflectorStore[T any] struct{ *mirror[T] }

// Add, Update, Delete, Replace and Resync are what a reflector calls.
func (f reflectorStore[T]) Add(obj any) error { return f.put(obj) }

// Update is Add.
func (f reflectorStore[T]) Update(obj any) error { return f.put(obj) }

// Delete removes an object.
func (f reflectorStore[T]) Delete(obj any) error { return f.delete(obj) }

// Replace stores a list.
func (f reflectorStore[T]) Replace(list []any, version string) error { return f.replace(list, version) }

// Resync has nothing to do.
func (f reflectorStore[T]) Resync() error { return nil }

// Transformer has a reflector collect readings where a watch begins with all there is.
func (f reflectorStore[T]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return f.readingOf(obj) }
}
