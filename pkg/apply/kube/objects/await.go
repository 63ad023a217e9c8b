package objects

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// ErrGone is wrapped where an object is deleted that was waited for.
var ErrGone = errors.New("it was deleted")

// Await watches one object until a condition holds. One that is deleted before is an
// error that wraps [ErrGone].
func (c *Client) Await(ctx context.Context, u *unstructured.Unstructured, holds func(*unstructured.Unstructured) bool) error {
	client, err := c.of(u)
	if err != nil {
		return err
	}
	narrow := func(o metav1.ListOptions) metav1.ListOptions {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", u.GetName()).String()
		return o
	}
	_, err = watchtools.UntilWithSync(ctx, &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, narrow(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, narrow(o))
		},
	}, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		got, ok := e.Object.(*unstructured.Unstructured)
		switch {
		case !ok || got.GetName() != u.GetName():
			return false, nil
		case holds(got):
			return true, nil
		case e.Type == watch.Deleted:
			return false, ErrGone
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
