package standin

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// How long a controller waits after the first failure and, doubled each time, at
// most, as all of Kruise's do.
const (
	retryFirst = 5 * time.Millisecond
	retryMost  = 1000 * time.Second
)

// workers is how many objects of a kind have their turn at once. A turn mostly waits for
// answers, and on a busy machine one that writes much must not delay all others.
const workers = 16

// loop gives the objects of one kind their turns; two turns of one object never
// overlap.
type loop struct {
	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
	// turn looks at one object and says after what time to look again, 0 for not
	// before something changes.
	turn func(ctx context.Context, key types.NamespacedName) (again time.Duration, err error)
	// retry is how long after a failure it comes back; 0 doubles the wait each
	// time.
	retry time.Duration

	pace *Pace
	mu   sync.Mutex
	// woken is since when an object has had changes that no turn has looked at.
	woken map[types.NamespacedName]time.Time
}

func (s *standIns) newLoop(turn func(context.Context, types.NamespacedName) (time.Duration, error)) *loop {
	limits := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](retryFirst, retryMost)
	return &loop{queue: workqueue.NewTypedRateLimitingQueue(limits), turn: turn, pace: s.pace, woken: map[types.NamespacedName]time.Time{}}
}

// start works until the context ends.
func (l *loop) start(ctx context.Context) {
	context.AfterFunc(ctx, l.queue.ShutDown)
	for range workers {
		go func() {
			for l.next(ctx) {
			}
		}()
	}
}

func (l *loop) next(ctx context.Context) bool {
	key, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(key)
	since := l.looks(key)
	again, err := l.turn(ctx, key)
	l.pace.note(time.Since(since))
	switch {
	case err == nil:
		l.queue.Forget(key)
	case l.retry > 0:
		l.queue.AddAfter(key, l.retry)
	default:
		l.queue.AddRateLimited(key)
	}
	if again > 0 {
		l.queue.AddAfter(key, again)
	}
	return true
}

// add gives an object a turn because of a change.
func (l *loop) add(key types.NamespacedName) {
	l.mu.Lock()
	if _, ok := l.woken[key]; !ok {
		l.woken[key] = time.Now()
	}
	l.mu.Unlock()
	l.queue.Add(key)
}

// looks begins a turn, and returns since when it was due.
func (l *loop) looks(key types.NamespacedName) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	since, ok := l.woken[key]
	if !ok {
		return time.Now()
	}
	delete(l.woken, key)
	return since
}

// wake has the loop look at the objects that a change concerns; before or after
// is nil for what comes or goes.
func (l *loop) wake(i cache.SharedIndexInformer, concerned func(before, after metav1.Object) []types.NamespacedName) error {
	add := func(before, after metav1.Object) {
		for _, key := range concerned(before, after) {
			l.add(key)
		}
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { add(nil, object(o)) },
		UpdateFunc: func(from, to any) {
			before, after := object(from), object(to)
			if before.GetUID() != after.GetUID() {
				// Another object of the same name, after a watch that was cut off.
				add(before, nil)
				before = nil
			}
			add(before, after)
		},
		DeleteFunc: func(o any) { add(object(o), nil) },
	})
	return err
}

// object is what an event is about.
func object(o any) metav1.Object {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	m, _ := o.(metav1.Object)
	return m
}

// itself is concerned by its own changes.
func itself(before, after metav1.Object) []types.NamespacedName {
	o := either(before, after)
	return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.GetName()}}
}

// owner is concerned by the changes of what it controls.
func owner(kind string) func(before, after metav1.Object) []types.NamespacedName {
	return func(before, after metav1.Object) []types.NamespacedName {
		o := either(before, after)
		if ref := metav1.GetControllerOfNoCopy(o); ref != nil && ref.Kind == kind {
			return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: ref.Name}}
		}
		return nil
	}
}

func either(before, after metav1.Object) metav1.Object {
	if after != nil {
		return after
	}
	return before
}

// allOf is every object of a kind.
func (s *store) allOf(kind string) []types.NamespacedName {
	var out []types.NamespacedName
	for _, o := range every[metav1.Object](s.kruise[kind]) {
		out = append(out, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out
}
