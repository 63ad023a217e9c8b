package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// source is what a mirror shows: some objects of one resource.
type source struct {
	// description names the resource in errors.
	description string
	example     runtime.Object
	fields      string
	selector    string
	client      cache.ListerWatcherWithContext
	// required indicates that there is no rollout without it.
	required bool
	// shared has the stream of key from which the objects come, if any; common is a selector
	// that all objects of the stream match.
	shared      *Shared
	key, common string
	// resource is how objects of any kind are served.
	resource schema.GroupVersionResource
}

// sharedAs names the stream of which a source is a part: the objects of its type in one
// namespace, "" for all of them.
func (s source) sharedAs(namespace string) source {
	s.key = fmt.Sprintf("%T in %s", s.example, namespace)
	return s
}

// lister is what typed clients have in common.
type lister[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// listWatch has reflectors use such a client.
func listWatch[L runtime.Object](client lister[L]) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: client.Watch,
	}
}

// typedSource is a source of objects of a type.
func typedSource[L runtime.Object](what string, like runtime.Object, client lister[L], selector string) source {
	return source{description: what, example: like, selector: selector, client: listWatch(client)}
}

func unchanged[T any](o T) (T, error) { return o, nil }

// readAs reads objects of one type.
func readAs[O metav1.Object, T any](read func(O) (T, error)) func(metav1.Object) (T, error) {
	return func(o metav1.Object) (T, error) {
		typed, ok := o.(O)
		if !ok {
			var zero T
			return zero, fmt.Errorf("unexpected %T", o)
		}
		return read(typed)
	}
}

func ownerOf(o metav1.Object) string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return string(ref.UID)
	}
	return ""
}

// sourceOf is a source of what a query names.
func sourceOf[L runtime.Object](q *objectQuery, like runtime.Object, client lister[L]) source {
	s := typedSource(q.Description, like, client, q.Selector).sharedAs(q.Namespace)
	if s.required = q.Needed; q.Name != "" {
		s.fields = fields.OneTermEqualSelector("metadata.name", q.Name).String()
	}
	return s
}

// followMirror begins a mirror of objects of one type.
func followMirror[O metav1.Object, T any](c *connection, s source, read func(O) (T, error)) (*mirror[T], error) {
	m := newMirror(c.changes, readAs(read))
	s.shared = c.opt.Shared
	err := follow(c.ctx, s, m)
	switch {
	case err == nil:
		return m, nil
	case s.required, c.ctx.Err() != nil:
		return nil, err
	case !errors.Is(err, errNotServed):
		c.warn("%v: the rollout continues without", err)
	}
	return nil, nil //nolint:nilnil // done without
}

// errNotServed is a resource that the server does not have.
var errNotServed = errors.New("not served")

// follow keeps a mirror up to date until ctx ends, by one list and one watch. It
// returns when the mirror is filled, or when the server refuses for good: an error wraps errNotServed where the resource is not there.
func follow[T any](ctx context.Context, s source, m *mirror[T]) error {
	m.source = s
	if s.shared != nil && s.key != "" {
		return s.shared.follow(ctx, s, m)
	}
	first := &firstList{ready: make(chan struct{}), failed: make(chan error, 1)}
	quiet := logr.Discard()
	r := cache.NewReflectorWithOptions(listerWatcher(s, first, m.readingsOf), s.example, firstListStore[T]{reflectorStore[T]{m}, first}, cache.ReflectorOptions{Logger: &quiet, Name: s.description, Backoff: new(watchBackoff)})
	return first.await(ctx, s, r.RunWithContext)
}

// watchBackoff is how long a watch waits that fails repeatedly: the executor of a rollout
// sees no changes meanwhile.
var watchBackoff = wait.Backoff{Duration: 300 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 5 * time.Second}

// await runs a reflector until its first list is there, or never will be.
func (f *firstList) await(ctx context.Context, s source, run func(context.Context)) error {
	ctx, stop := context.WithCancel(ctx)
	go run(ctx)
	select {
	case <-f.ready:
		context.AfterFunc(ctx, stop)
		return nil
	case err := <-f.failed:
		stop()
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("%s: %w", s.description, errNotServed)
		}
		return fmt.Errorf("cannot read %s: %w", s.description, err)
	case <-ctx.Done():
		stop()
		return context.Cause(ctx)
	}
}

// firstList describes how the first list of a reflector ended.
type firstList struct {
	once   sync.Once
	ready  chan struct{}
	failed chan error
}

// note keeps an answer that is final.
func (f *firstList) note(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) {
		select {
		case f.failed <- err:
		default:
		}
	}
	return err
}

// firstListStore is a store that signals when it is filled for the first time.
type firstListStore[T any] struct {
	reflectorStore[T]
	firstList *firstList
}

// Replace fills the mirror.
func (c firstListStore[T]) Replace(list []any, version string) error {
	err := c.reflectorStore.Replace(list, version)
	if err == nil {
		c.firstList.once.Do(func() { close(c.firstList.ready) })
	}
	return err
}

// withSelectors asks for the objects of the source alone.
func (s source) withSelectors(o metav1.ListOptions) metav1.ListOptions {
	o.FieldSelector, o.LabelSelector = s.fields, s.selector
	return o
}

// listerWatcher lists and watches for a reflector; read turns each page of a list into what is kept of it
// before the next is asked for.
func listerWatcher(s source, first *firstList, read func(runtime.Object) (*internalversion.List, error)) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			page, err := s.client.ListWithContext(ctx, s.withSelectors(o))
			if err != nil {
				return nil, first.note(err)
			}
			return read(page)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := s.client.WatchWithContext(ctx, s.withSelectors(o))
			return w, first.note(err)
		},
	}
}

// lazyMirrors are mirrors that start when a step needs them, which most rollouts never do.
type lazyMirrors struct {
	*connection
	pulls       *lazyMirror[*kruise.ImagePullJob]
	recreations *lazyMirror[*kruise.ContainerRecreateRequest]
	// nodeImages are the states of images on nodes.
	nodeImages *lazyMirror[*kruise.NodeImage]
	jobs       *lazyMirror[*batchv1.Job]
	// jobPods are the pods of Jobs that pull, whose status has the errors.
	jobPods *lazyMirror[*corev1.Pod]
	// started are the kinds of steps whose mirrors were started.
	started sync.Map
}

// lazyMirror is a mirror that starts when it is needed first.
type lazyMirror[T any] struct {
	connection *connection
	mirror     *mirror[T]
	// sources are those of the versions that may be served, the first that is counts.
	sources []source
	// optional treats what may not be read like what is not served.
	optional bool

	mu        sync.Mutex // of starting
	started   atomic.Bool
	notServed bool
}

func newLazyMirrors(c *connection) *lazyMirrors {
	l := &lazyMirrors{
		connection:  c,
		pulls:       newLazyKruiseMirror[kruise.ImagePullJob](c, kruise.Group, "imagepulljobs", c.auxiliaryNamespace(), c.createdSelector()),
		recreations: newLazyKruiseMirror[kruise.ContainerRecreateRequest](c, kruise.Group, "containerrecreaterequests", c.opt.Target.Namespace, c.createdSelector()),
		nodeImages:  newLazyKruiseMirror[kruise.NodeImage](c, kruise.Group, "nodeimages", "", ""),
		jobs:        newLazyMirror[*batchv1.Job](c, typedSource("jobs", &batchv1.Job{}, c.core.BatchV1().Jobs(c.auxiliaryNamespace()), c.createdSelector())),
		jobPods:     newLazyMirror[*corev1.Pod](c, typedSource("pods of jobs", &corev1.Pod{}, c.core.CoreV1().Pods(c.auxiliaryNamespace()), c.createdSelector())),
	}
	l.pulls.optional = c.opt.Target.Group != kruise.Group // Jobs do as well
	return l
}

// newLazyMirror is a mirror of what this program creates, of one type.
func newLazyMirror[O metav1.Object](c *connection, s source) *lazyMirror[O] {
	s = s.sharedAs(c.auxiliaryNamespace())
	s.shared = c.opt.Shared
	return &lazyMirror[O]{connection: c, mirror: newMirror(c.changes, readAs(unchanged[O])), sources: []source{s}}
}

// newLazyKruiseMirror is a mirror of a kind of Kruise, in the newest version that is served.
func newLazyKruiseMirror[T any](c *connection, group, plural, namespace, selector string) *lazyMirror[*T] {
	l := &lazyMirror[*T]{connection: c, mirror: newMirror(c.changes, decodeKruise[T])}
	for _, version := range versionsOf(group) {
		s := c.untypedSource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}, namespace)
		s.selector = selector
		l.sources = append(l.sources, s)
	}
	return l
}

func decodeKruise[T any](o metav1.Object) (*T, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("unexpected %T", o)
	}
	out := new(T)
	_, err := kruise.Decode(tree.FromValue(u.Object), out)
	return out, err
}

// start starts the mirror; the error wraps errNotServed where the server has no such resource.
func (l *lazyMirror[T]) start() (*mirror[T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notServed {
		return nil, errNotServed
	}
	if l.started.Load() {
		return l.mirror, nil
	}
	var err error
	for _, s := range l.sources {
		if err = follow(l.connection.ctx, s, l.mirror); !errors.Is(err, errNotServed) {
			break
		}
	}
	if l.optional && apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w: %w", errNotServed, err)
	}
	if l.notServed = errors.Is(err, errNotServed); err != nil {
		return nil, err
	}
	l.started.Store(true)
	return l.mirror, nil
}

// ifStarted is the mirror if it was started, nil otherwise, also while it is starting.
func (l *lazyMirror[T]) ifStarted() *mirror[T] {
	if !l.started.Load() {
		return nil
	}
	return l.mirror
}

// startFor starts the mirrors that a step reads.
func (lm *lazyMirrors) startFor(s *plan.Step) error {
	switch {
	case s.Pull != nil:
		_, err := lm.pulls.start()
		if errors.Is(err, errNotServed) {
			_, err = lm.jobs.start()
			if _, second := lm.jobPods.start(); err == nil {
				err = second
			}
		}
		return err
	case s.Containers != nil && slices.Contains([]string{"", plan.RestartCRR}, s.Containers.Method):
		if _, err := lm.recreations.start(); !errors.Is(err, errNotServed) {
			return err
		}
	}
	return nil
}

// startLater starts it when another process brings the rollout to such a step.
func (lm *lazyMirrors) startLater(s *plan.Step) {
	if _, done := lm.started.LoadOrStore(s.Kind, true); !done {
		go func() {
			if err := lm.startFor(s); err != nil && lm.ctx.Err() == nil {
				lm.warn("%v", err)
			}
		}()
	}
}

// create creates an object of a kind of Kruise; one that exists already is the same.
func (l *lazyMirror[T]) create(ctx context.Context, kind string, meta metav1.ObjectMeta, spec any) error {
	u, err := l.object(kind, meta, spec)
	if err != nil {
		return err
	}
	return createOrGet(ctx, l.connection.dynamic.Resource(l.mirror.source.resource).Namespace(meta.Namespace), u, l.mirror.put)
}

// object is one to create.
func (l *lazyMirror[T]) object(kind string, meta metav1.ObjectMeta, spec any) (*unstructured.Unstructured, error) {
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	u := &unstructured.Unstructured{Object: map[string]any{"spec": value}}
	u.SetAPIVersion(l.mirror.source.resource.GroupVersion().String())
	u.SetKind(kind)
	u.SetNamespace(meta.Namespace)
	u.SetName(meta.Name)
	u.SetGenerateName(meta.GenerateName)
	u.SetLabels(meta.Labels)
	u.SetOwnerReferences(meta.OwnerReferences)
	return u, err
}
