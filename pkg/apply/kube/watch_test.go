package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var _ cache.TransformingStore = firstListStore[string]{}

// paged is a server that has no watches which begin with all there is, and that gives
// objects one by one, as pages.
type paged struct {
	objects []corev1.ConfigMap

	mu sync.Mutex
	// did is what was asked and read, in order.
	did []string
}

func (p *paged) says(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did = append(p.did, fmt.Sprintf(format, args...))
}

func (p *paged) source() source {
	return source{
		description: "configmaps", example: &corev1.ConfigMap{},
		client: &cache.ListWatch{ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			i, _ := strconv.Atoi(o.Continue)
			p.says("page %d", i)
			out := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: p.objects[i : i+1]}
			if i+1 < len(p.objects) {
				out.Continue = strconv.Itoa(i + 1)
			}
			return out, nil
		}, WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
			}
			return watch.NewFake(), nil
		}},
	}
}

// TestFollow_ReadsPageByPage: of a page only what is kept of it is in memory when the next
// one is asked for.
func TestFollow_ReadsPageByPage(t *testing.T) {
	p := &paged{objects: []corev1.ConfigMap{*configMapOf("a", "1", "4"), *configMapOf("b", "2", "5"), *configMapOf("c", "3", "6")}}
	m := newMirror(newChangeSignal(), func(o metav1.Object) (string, error) {
		p.says("read %s", o.GetName())
		return o.GetName(), nil
	})
	if err := follow(t.Context(), p.source(), m); err != nil {
		t.Fatal(err)
	}
	want := []string{"page 0", "read a", "page 1", "read b", "page 2", "read c"}
	if list, err := m.list(); err != nil || !slices.Equal(list, []string{"a", "b", "c"}) || !slices.Equal(p.did, want) {
		t.Errorf("%q after %q, %v", list, p.did, err)
	}
	p.did = nil
	if err := m.reread(t.Context()); err != nil || !slices.Equal(p.did, want) {
		t.Errorf("read again: %q, %v", p.did, err)
	}
}

// TestLazyMirror_OptionalIsDoneWithoutWhatIsForbidden: what may not be read is done without, what fails otherwise is not.
func TestLazyMirror_OptionalIsDoneWithoutWhatIsForbidden(t *testing.T) {
	jobs := schema.GroupResource{Resource: "imagepulljobs"}
	for name, c := range map[string]struct {
		err  error
		none bool
	}{
		"forbidden": {apierrors.NewForbidden(jobs, "", errors.New("you may not")), true}, "not served": {apierrors.NewNotFound(jobs, ""), true},
		"broken": {apierrors.NewMethodNotSupported(jobs, "list"), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := lazyMirrorOf(t, source{example: &corev1.ConfigMap{}, client: &cache.ListWatch{
				ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return nil, c.err },
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return nil, c.err },
			}})
			l.optional = true
			if _, err := l.start(); err == nil || errors.Is(err, errNotServed) != c.none {
				t.Error(err)
			}
		})
	}
}

func lazyMirrorOf(t *testing.T, s source) *lazyMirror[string] {
	t.Helper()
	return &lazyMirror[string]{connection: &connection{ctx: t.Context()}, mirror: versions(), sources: []source{s}}
}

// TestLazyMirror_IsThereForManyReaders: what was started is found while others hold the lock of starting; it was
// nil then, and readers of a mirror that they had started themselves crashed.
func TestLazyMirror_IsThereForManyReaders(t *testing.T) {
	l := lazyMirrorOf(t, (&paged{objects: []corev1.ConfigMap{*configMapOf("a", "1", "4")}}).source())
	if l.ifStarted() != nil {
		t.Error("there before it was started")
	}
	if _, err := l.start(); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ifStarted() == nil {
		t.Error("not there while another caller has the lock")
	}
}
