package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// answerWithin is how long one request may take; see [Cluster.brief] for writes.
const answerWithin = 10 * time.Second

// backoff is how long to wait after the n-th failure in a row.
func backoff(n int) time.Duration { return min(100*time.Millisecond<<min(n-1, 6), 4*time.Second) }

// doubts are objects that may not be what the mirrors show, by name, with how to
// read them again: a write got no answer, or one that says so. Before that was done
// nothing is written, since it would be decided on what is not true.
type doubts struct {
	mu   sync.Mutex
	list map[string]func(context.Context) error
}

func (d *doubts) add(name string, read func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.list == nil {
		d.list = map[string]func(context.Context) error{}
	}
	d.list[name] = read
}

// settle reads all that is doubtful again; some says that there was anything.
func (d *doubts) settle(ctx context.Context) (some bool, err error) {
	d.mu.Lock()
	open := maps.Clone(d.list)
	d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if err := open[name](ctx); err != nil {
			return true, told(name, err)
		}
		d.mu.Lock()
		delete(d.list, name)
		d.mu.Unlock()
	}
	return len(open) > 0, nil
}

// certain reports an error unless this process may write and knows what it writes
// to: what was read again first has to be decided on anew.
func (c *Cluster) certain(ctx context.Context) error {
	if err := c.fenced(); err != nil {
		return err
	}
	some, err := c.doubts.settle(ctx)
	if err == nil && some {
		err = fmt.Errorf("it was read again: %w", plan.ErrConflict)
	}
	return err
}

// doubt has what an action was about read again, after an error that leaves open
// what it is like now.
func (c *Cluster) doubt(ctx context.Context, a plan.Action, err error) {
	if !errors.Is(err, plan.ErrUnavailable) && !errors.Is(err, plan.ErrConflict) && !errors.Is(err, plan.ErrNotFound) {
		return
	}
	if p := podOf(a); p != nil {
		c.doubts.add("pod "+p.Name, func(ctx context.Context) error { return c.rereadPod(ctx, p) })
	} else {
		c.doubts.add(c.object().String(), c.rereadWorkload)
	}
	_, _ = c.doubts.settle(ctx) // the next write tries again
}

// podOf is the pod that an action is about, nil for none.
func podOf(a plan.Action) *plan.PodRef {
	switch {
	case a.Pod != nil:
		return &a.Pod.PodRef
	case a.Evict != nil:
		return a.Evict
	case a.Delete != nil:
		return a.Delete
	case a.Restart != nil:
		return &a.Restart.PodRef
	}
	return nil
}

func (c *Cluster) rereadWorkload(ctx context.Context) error {
	o := c.object()
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, err := c.dynamic.Resource(o.Resource).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	return seenAgain(c.workloads, o.Namespace, o.Name, got, err)
}

func (c *Cluster) rereadRecord(ctx context.Context) error {
	namespace, name := c.record.where(c.opt.Target.Ref)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, err := c.core.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	return seenAgain(c.record.mirror, namespace, name, got, err)
}

func (c *Cluster) rereadPod(ctx context.Context, p *plan.PodRef) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	got, err := c.core.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	return seenAgain(c.pods, p.Namespace, p.Name, got, err)
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
