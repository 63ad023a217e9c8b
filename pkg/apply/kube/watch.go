package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// source is what a mirror shows: some objects of one resource.
type source struct {
	// what is the resource in words, for errors.
	what     string
	like     runtime.Object
	fields   string
	selector string
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// needed says that there is no rollout without it.
	needed bool
	// shared has the objects come from a stream of others, which has those of key; common
	// is a selector that all of them match who use it.
	shared      *Shared
	key, common string
}

// in names what a source is a part of, for those who share it: the objects of its type in
// one namespace, "" for all of them.
func (s source) in(namespace string) source {
	s.key = fmt.Sprintf("%T in %s", s.like, namespace)
	return s
}

// blindFor is how long a watch waits that fails again and again: whoever drives a
// rollout is blind meanwhile.
var blindFor = wait.Backoff{Duration: 300 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 5 * time.Second}

// errNotServed is a resource that the server does not have.
var errNotServed = errors.New("not served")

// follow keeps a mirror up to date until ctx ends, by one list and one watch. It
// returns when the mirror shows what is there, or when the server says that it never
// will: an error wraps errNotServed where the resource is not there.
func follow[T any](ctx context.Context, s source, m *mirror[T]) error {
	m.source = s
	if s.shared != nil && s.key != "" {
		return s.shared.follow(ctx, s, m)
	}
	first := &firstLook{ready: make(chan struct{}), failed: make(chan error, 1)}
	quiet := logr.Discard()
	r := cache.NewReflectorWithOptions(asking(s, first, m.reducePage), s.like, counted[T]{feed[T]{m}, first}, cache.ReflectorOptions{Logger: &quiet, Name: s.what, Backoff: new(blindFor)})
	return first.await(ctx, s, r.RunWithContext)
}

// await runs a reflector until its first list is there, or never will be.
func (f *firstLook) await(ctx context.Context, s source, run func(context.Context)) error {
	ctx, stop := context.WithCancel(ctx)
	go run(ctx)
	select {
	case <-f.ready:
		context.AfterFunc(ctx, stop)
		return nil
	case err := <-f.failed:
		stop()
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("%s: %w", s.what, errNotServed)
		}
		return fmt.Errorf("cannot read %s: %w", s.what, err)
	case <-ctx.Done():
		stop()
		return context.Cause(ctx)
	}
}

// firstLook is how a reflector's beginning ends.
type firstLook struct {
	once   sync.Once
	ready  chan struct{}
	failed chan error
}

// meets keeps an answer that will not change by asking again.
func (f *firstLook) meets(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) {
		select {
		case f.failed <- err:
		default:
		}
	}
	return err
}

// counted is a feed that tells when it is filled for the first time.
type counted[T any] struct {
	feed[T]
	first *firstLook
}

// Replace fills the mirror.
func (c counted[T]) Replace(list []any, version string) error {
	err := c.feed.Replace(list, version)
	if err == nil {
		c.first.once.Do(func() { close(c.first.ready) })
	}
	return err
}

// narrowed asks for the objects of the source alone.
func (s source) narrowed(o metav1.ListOptions) metav1.ListOptions {
	o.FieldSelector, o.LabelSelector = s.fields, s.selector
	return o
}

// asking is how a reflector asks; read turns each page of a list into what is kept of it
// before the next is asked for.
func asking(s source, first *firstLook, read func(runtime.Object) (*internalversion.List, error)) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			page, err := s.list(ctx, s.narrowed(o))
			if err != nil {
				return nil, first.meets(err)
			}
			return read(page)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := s.watch(ctx, s.narrowed(o))
			return w, first.meets(err)
		},
	}
}
