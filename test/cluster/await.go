package cluster

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Patience is how long Await waits when its context has no deadline. It only ends
// what would never come: a machine under load may take minutes for seconds' work.
const Patience = 10 * time.Minute

// Lister is what typed and dynamic clients of one namespace have in common.
type Lister[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Await watches one object until the condition holds and returns it as it was
// then. An object that is not there yet is waited for.
func Await[O runtime.Object, L runtime.Object](
	ctx context.Context, client Lister[L], name string, holds func(watch.EventType, O) bool,
) (O, error) {
	var last O
	ctx, cancel := patient(ctx)
	defer cancel()
	empty, ok := reflect.TypeAssert[runtime.Object](reflect.New(reflect.TypeFor[O]().Elem()))
	if !ok {
		return last, fmt.Errorf("%T is no object", last)
	}
	_, err := watchtools.UntilWithSync(ctx, listWatch(client, name), empty, nil, func(e watch.Event) (bool, error) {
		o, ok := e.Object.(O)
		if !ok {
			return false, fmt.Errorf("unexpected %T", e.Object)
		}
		last = o
		return holds(e.Type, o), nil
	})
	if err != nil {
		return last, fmt.Errorf("waiting for %T %q: %w", last, name, err)
	}
	return last, nil
}

// AwaitGone watches one object until it is not there, also if it has gone before.
func AwaitGone[O runtime.Object, L runtime.Object](ctx context.Context, client Lister[L], name string, like O) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	absent := func(store cache.Store) (bool, error) { return len(store.ListKeys()) == 0, nil }
	_, err := watchtools.UntilWithSync(ctx, listWatch(client, name), like, absent,
		func(e watch.Event) (bool, error) { return e.Type == watch.Deleted, nil })
	if err != nil {
		return fmt.Errorf("waiting for the end of %T %q: %w", like, name, err)
	}
	return nil
}

// patient gives a context that has no deadline one.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, Patience)
}

// listWatch reads one object, or all for an empty name.
func listWatch[L runtime.Object](client Lister[L], name string) cache.ListerWatcher {
	narrow := func(o metav1.ListOptions) metav1.ListOptions {
		if name != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}
		return o
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, narrow(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, narrow(o))
		},
	}
}
