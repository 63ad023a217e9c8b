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

// Patience is how long Await waits when its context has no deadline.
const Patience = 60 * time.Second

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
	if _, ok := ctx.Deadline(); !ok {
		limited, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		ctx = limited
	}
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
