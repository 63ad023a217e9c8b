package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// late are mirrors that begin when a step needs them: most rollouts never do.
type late struct {
	pulls       *lately[*kruise.ImagePullJob]
	recreations *lately[*kruise.ContainerRecreateRequest]
	// nodeImages say how each node pulls.
	nodeImages *lately[*kruise.NodeImage]
	jobs       *lately[*batchv1.Job]
	// jobPods are the pods of Jobs that pull: they say what is wrong.
	jobPods *lately[*corev1.Pod]
	needed  *sync.Map
}

func (c *Cluster) newLate() late {
	l := late{
		pulls:       kruised[kruise.ImagePullJob](c, kruise.Group, "imagepulljobs", c.beside(), c.ours()),
		recreations: kruised[kruise.ContainerRecreateRequest](c, kruise.Group, "containerrecreaterequests", c.opt.Target.Namespace, c.ours()),
		nodeImages:  kruised[kruise.NodeImage](c, kruise.Group, "nodeimages", "", ""),
		jobs: begins(func() (*mirror[*batchv1.Job], error) {
			return keep(c, needed(typed("jobs", &batchv1.Job{}, c.core.BatchV1().Jobs(c.beside()), c.ours()).in(c.beside())), itself[*batchv1.Job])
		}),
		jobPods: begins(func() (*mirror[*corev1.Pod], error) {
			return keep(c, needed(typed("pods of jobs", &corev1.Pod{}, c.core.CoreV1().Pods(c.beside()), c.ours()).in(c.beside())), itself[*corev1.Pod])
		}),
		needed: &sync.Map{},
	}
	if c.opt.Target.Group != kruise.Group {
		l.pulls.begin = orForbidden(l.pulls.begin) // Jobs do as well
	}
	return l
}

// orForbidden does without what may not be read, as without what is not served.
func orForbidden[T any](begin func() (*mirror[T], error)) func() (*mirror[T], error) {
	return func() (*mirror[T], error) {
		m, err := begin()
		if apierrors.IsForbidden(err) {
			err = fmt.Errorf("%w: %w", errNotServed, err)
		}
		return m, err
	}
}

func itself[T any](o T) (T, error) { return o, nil }

func needed(s source) source {
	s.needed = true
	return s
}

// lately is a mirror that begins when somebody asks for it.
type lately[T any] struct {
	begin func() (*mirror[T], error)

	mu     sync.Mutex
	mirror *mirror[T]
	none   bool
	// resource is how a kind of Kruise is served; set with the mirror.
	resource schema.GroupVersionResource
}

func begins[T any](begin func() (*mirror[T], error)) *lately[T] { return &lately[T]{begin: begin} }

// get begins; the error wraps errNotServed where the server has no such resource.
func (l *lately[T]) get() (*mirror[T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.none {
		return nil, errNotServed
	}
	if l.mirror == nil {
		m, err := l.begin()
		if l.none = errors.Is(err, errNotServed); err != nil {
			return nil, err
		}
		l.mirror = m
	}
	return l.mirror, nil
}

// shown is the mirror if it has begun, nil otherwise.
func (l *lately[T]) shown() *mirror[T] {
	if !l.mu.TryLock() {
		return nil // it is just beginning
	}
	defer l.mu.Unlock()
	return l.mirror
}

// kruised is a kind of Kruise in the newest version that is served.
func kruised[T any](c *Cluster, group, plural, namespace, selector string) *lately[*T] {
	l := &lately[*T]{}
	l.begin = func() (m *mirror[*T], err error) {
		for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
			l.resource = schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
			s := c.untyped(l.resource, namespace)
			s.selector = selector
			m = newMirror(c.bell.ring, decoded[T])
			if err = follow(c.ctx, s, m); !errors.Is(err, errNotServed) {
				return m, err
			}
		}
		return nil, err
	}
	return l
}

func decoded[T any](o metav1.Object) (*T, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("unexpected %T", o)
	}
	out := new(T)
	_, err := kruise.Decode(tree.FromValue(u.Object), out)
	return out, err
}

// create creates an object of a kind of Kruise; one that is there already is the one
// that was asked for.
func (l *lately[T]) create(ctx context.Context, c *Cluster, kind string, meta metav1.ObjectMeta, spec any) error {
	u, err := l.object(kind, meta, spec)
	if err != nil {
		return err
	}
	return c.ensure(ctx, c.dynamic.Resource(l.resource).Namespace(meta.Namespace), u, l.mirror.put)
}

// object is one to create.
func (l *lately[T]) object(kind string, meta metav1.ObjectMeta, spec any) (*unstructured.Unstructured, error) {
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	u := &unstructured.Unstructured{Object: map[string]any{"spec": value}}
	u.SetAPIVersion(l.resource.GroupVersion().String())
	u.SetKind(kind)
	u.SetNamespace(meta.Namespace)
	u.SetName(meta.Name)
	u.SetGenerateName(meta.GenerateName)
	u.SetLabels(meta.Labels)
	u.SetOwnerReferences(meta.OwnerReferences)
	return u, err
}

// needs are the mirrors that a step looks at.
func (c *Cluster) needs(s *plan.Step) error {
	switch {
	case s.Pull != nil:
		_, err := c.pulls.get()
		if errors.Is(err, errNotServed) {
			_, err = c.jobs.get()
			if _, second := c.jobPods.get(); err == nil {
				err = second
			}
		}
		return err
	case s.Containers != nil && slices.Contains([]string{"", plan.RestartCRR}, s.Containers.Method):
		if _, err := c.recreations.get(); !errors.Is(err, errNotServed) {
			return err
		}
	}
	return nil
}

// resume begins what the present step of a rollout looks at: what was asked for
// before is found again.
func (c *Cluster) resume() error {
	rec, err := c.record.now()
	if step := rec.Present(); err == nil && step != nil {
		c.needed.Store(step.Kind, true)
		err = c.needs(step)
	}
	return err
}

// needLater does so when another process runs the rollout to such a step.
func (c *Cluster) needLater(s *plan.Step) {
	if _, done := c.needed.LoadOrStore(s.Kind, true); !done {
		go func() {
			if err := c.needs(s); err != nil && c.ctx.Err() == nil {
				c.warn("%v", err)
			}
		}()
	}
}
