package release

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Watch hands every state of a Rollout to each, the present one first, until that
// returns true or ctx ends; then the error is ctx's cause.
func Watch(ctx context.Context, c dynamic.Interface, r *Rollout, each func(*Rollout) (over bool)) error {
	client := c.Resource(resourceOf(r.Version)).Namespace(r.Namespace)
	only := fields.OneTermEqualSelector("metadata.name", r.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return client.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(source, c), &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok || u.GetName() != r.Name {
			return false, nil
		}
		if e.Type == watch.Deleted || string(u.GetUID()) != r.UID {
			return true, fmt.Errorf("%s was deleted: its workload was let go", r.Title())
		}
		now, err := Read(u)
		if err != nil {
			return true, err
		}
		return each(now), nil
	})
	if errors.Is(err, watchtools.ErrWatchClosed) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
