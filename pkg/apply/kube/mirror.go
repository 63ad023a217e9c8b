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
// into a T. A watch fills it, and so do the answers to our own writes, so that
// nobody ever acts on something older than what we wrote. It never goes back: an
// object is replaced only by a newer version of itself.
type mirror[T any] struct {
	// read turns an object into what is kept of it; an object that cannot be read is
	// kept out, and faults tell of it until it can, or is gone.
	read    func(metav1.Object) (T, error)
	changed func()
	// source is where the objects come from.
	source source

	mu     sync.Mutex
	kept   map[string]kept[T]
	gone   map[types.UID]bool
	faults map[string]error
	list   []T
}

type kept[T any] struct {
	uid     types.UID
	version string
	value   T
}

func newMirror[T any](changed func(), read func(metav1.Object) (T, error)) *mirror[T] {
	return &mirror[T]{read: read, changed: changed, kept: map[string]kept[T]{}, gone: map[types.UID]bool{}, faults: map[string]error{}}
}

// all returns the values sorted by namespace and name. The list is shared: nobody
// changes it.
func (m *mirror[T]) all() ([]T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list == nil {
		m.list = make([]T, 0, len(m.kept))
		for _, key := range slices.Sorted(maps.Keys(m.kept)) {
			m.list = append(m.list, m.kept[key].value)
		}
	}
	return m.list, m.fault()
}

// fault is why something is missing from the list.
func (m *mirror[T]) fault() error {
	if len(m.faults) == 0 {
		return nil
	}
	return m.faults[slices.Min(slices.Collect(maps.Keys(m.faults)))]
}

// one returns the value of a name.
func (m *mirror[T]) one(namespace, name string) (value T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[namespace+"/"+name]
	return k.value, ok
}

// uid returns the uid of a name, "" for none.
func (m *mirror[T]) uid(namespace, name string) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[namespace+"/"+name].uid
}

// put takes in a version of an object, from a watch or from an answer.
func (m *mirror[T]) put(obj any) error {
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.take(o) {
		m.note()
	}
	return nil
}

// putValue takes in what was written under a name, as it was answered.
func (m *mirror[T]) putValue(namespace, name string, uid types.UID, version string, value T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := namespace + "/" + name
	have, ok := m.kept[key]
	if m.gone[uid] || ok && !newer(version, have.version) {
		return
	}
	m.kept[key] = kept[T]{uid, version, value}
	m.note()
}

// take reports whether the object was news.
func (m *mirror[T]) take(o metav1.Object) bool {
	key := o.GetNamespace() + "/" + o.GetName()
	have, ok := m.kept[key]
	switch {
	case m.gone[o.GetUID()]:
		return false
	case ok && !newer(o.GetResourceVersion(), have.version):
		return false
	}
	value, err := m.readOf(o)
	if err != nil {
		m.faults[key] = err
		return false
	}
	delete(m.faults, key)
	m.kept[key] = kept[T]{o.GetUID(), o.GetResourceVersion(), value}
	return true
}

// drop forgets an object that was deleted.
func (m *mirror[T]) drop(obj any) error {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[o.GetUID()] = true
	m.forget(o.GetNamespace()+"/"+o.GetName(), o.GetUID())
	return nil
}

// lose forgets the object of a uid, which somebody has looked for in vain.
func (m *mirror[T]) lose(namespace, name string, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[uid] = true
	m.forget(namespace+"/"+name, uid)
}

func (m *mirror[T]) forget(key string, uid types.UID) {
	delete(m.faults, key)
	if have, ok := m.kept[key]; ok && have.uid == uid {
		delete(m.kept, key)
		m.note()
	}
}

// replace takes in a list of all there was at a version. What was written since
// stays.
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
		m.take(o)
	}
	maps.DeleteFunc(m.faults, func(key string, _ error) bool { _, ok := listed[key]; return !ok })
	for key, have := range m.kept {
		if uid, ok := listed[key]; (!ok || uid != have.uid) && !newer(have.version, version) {
			delete(m.kept, key)
		}
	}
	m.note()
	return nil
}

// note has everybody look again.
func (m *mirror[T]) note() {
	m.list = nil
	m.changed()
}

// newer compares resource versions of one resource; one that cannot be compared is
// taken as news, since a watch never goes back by itself.
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
	opt := m.source.narrowed(metav1.ListOptions{Limit: objects.PageSize})
	for {
		list, err := m.source.list(ctx, opt)
		if err != nil {
			return err
		}
		page, err := m.reducePage(list)
		if err != nil {
			return err
		}
		for _, o := range page.Items {
			all = append(all, o)
		}
		if opt.Continue = page.Continue; opt.Continue == "" {
			return m.replace(all, page.ResourceVersion)
		}
	}
}

// seenAgain takes in the answer to a question for one object.
func seenAgain[T any](m *mirror[T], namespace, name string, got any, err error) error {
	if apierrors.IsNotFound(err) {
		if uid := m.uid(namespace, name); uid != "" {
			m.lose(namespace, name, uid)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return m.put(got)
}

// listed is what a mirror shows that can be read of it; nothing without one.
func listed[T any](m *mirror[T]) []T {
	if m == nil {
		return nil
	}
	list, _ := m.all()
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

// DeepCopyObject makes it a runtime.Object. Nobody changes one.
func (r *reading[T]) DeepCopyObject() runtime.Object { return r }

// reduce reads an object; an error goes with the reading, for the mirror to tell of.
func (m *mirror[T]) reduce(obj any) (*reading[T], error) {
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

// reducePage reads the objects of a list, or of a page of one.
func (m *mirror[T]) reducePage(page runtime.Object) (*internalversion.List, error) {
	from, err := meta.ListAccessor(page)
	if err != nil {
		return nil, err
	}
	out := &internalversion.List{ListMeta: metav1.ListMeta{
		ResourceVersion: from.GetResourceVersion(), Continue: from.GetContinue(), RemainingItemCount: from.GetRemainingItemCount(),
	}}
	return out, meta.EachListItem(page, func(o runtime.Object) error {
		r, err := m.reduce(o)
		out.Items = append(out.Items, r)
		return err
	})
}

// readOf is what is kept of an object that may have been read before.
func (m *mirror[T]) readOf(o metav1.Object) (T, error) {
	if r, ok := o.(*reading[T]); ok {
		return r.value, r.err
	}
	return m.read(o)
}

// feed is a mirror as a reflector fills it.
type feed[T any] struct{ *mirror[T] }

// Add, Update, Delete, Replace and Resync are what a reflector calls.
func (f feed[T]) Add(obj any) error { return f.put(obj) }

// Update is Add.
func (f feed[T]) Update(obj any) error { return f.put(obj) }

// Delete forgets an object.
func (f feed[T]) Delete(obj any) error { return f.drop(obj) }

// Replace takes in a list.
func (f feed[T]) Replace(list []any, version string) error { return f.replace(list, version) }

// Resync has nothing to do.
func (f feed[T]) Resync() error { return nil }

// Transformer has a reflector collect readings where a watch begins with all there is.
func (f feed[T]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return f.reduce(obj) }
}
