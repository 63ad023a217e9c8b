package kube

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var _ cache.TransformingStore = firstListStore[string]{}

// TestReadingsStandForObjects: a list of readings does to a mirror what the objects
// themselves do.
func TestReadingsStandForObjects(t *testing.T) {
	list := []any{object("a", "1", "4"), object("bad", "2", "5"), object("b", "3", "6")}
	plain, reduced := versions(func() {}), versions(func() {})
	read := slices.Clone(list)
	for i, o := range list {
		var err error
		if read[i], err = (reflectorStore[string]{reduced}).Transformer()(o); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []*mirror[string]{plain, reduced} {
		if err := m.put(object("gone", "9", "3")); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.replace(list, "7"); err != nil {
		t.Fatal(err)
	}
	if err := reduced.replace(read, "7"); err != nil {
		t.Fatal(err)
	}
	want, wantErr := plain.list()
	got, gotErr := reduced.list()
	if !slices.Equal(got, want) || len(got) != 2 || wantErr == nil || gotErr == nil || gotErr.Error() != wantErr.Error() {
		t.Errorf("%v (%v), want %v (%v)", got, gotErr, want, wantErr)
	}
}

// TestNoObject: what is no object at all is refused.
func TestNoObject(t *testing.T) {
	m := versions(func() {})
	if _, err := m.readingOf("text"); err == nil {
		t.Error("a text was read")
	}
	if _, err := m.readingsOf(&corev1.ConfigMap{}); err == nil {
		t.Error("an object was read as a list")
	}
}

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
		list: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			i, _ := strconv.Atoi(o.Continue)
			p.says("page %d", i)
			out := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: p.objects[i : i+1]}
			if i+1 < len(p.objects) {
				out.Continue = strconv.Itoa(i + 1)
			}
			return out, nil
		},
		watch: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
			}
			return watch.NewFake(), nil
		},
	}
}

// TestPagesAreReadInTurn: of a page only what is kept of it is in memory when the next
// one is asked for.
func TestPagesAreReadInTurn(t *testing.T) {
	p := &paged{objects: []corev1.ConfigMap{*object("a", "1", "4"), *object("b", "2", "5"), *object("c", "3", "6")}}
	m := newMirror(func() {}, func(o metav1.Object) (string, error) {
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

// TestSightsAreBare: a fleet keeps workloads without their templates; a snapshot of one
// has it, of the source and of its carrier.
func TestSightsAreBare(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "web", "namespace": "shop", "uid": "u", "labels": map[string]any{"kubectl-kruise.dev/source": "cloneset.web"},
			"annotations": map[string]any{"kubectl-kruise.dev/strategy": `{"selector":{"matchLabels":{"app":"web"}}}`},
		},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}}},
		},
	}}
	got, err := readWorkloadState(u)
	if err != nil {
		t.Fatal(err)
	}
	if got.source == nil || got.source.Template != nil || got.workload.Template != nil {
		t.Fatalf("%+v of %+v is not bare", got.workload, got.source)
	}
	snapshot, err := (&Sight{Workload: got.source, Carrier: got.workload}).Snapshot(metav1.Now().Time)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cluster.ReadWorkload(tree.FromValue(u.Object))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot.Carrier); diff != "" {
		t.Error(diff)
	}
	containers, _, _ := unstructured.NestedSlice(snapshot.Workload.Template, "spec", "containers")
	if snapshot.Workload.Kind != "CloneSet" || len(containers) != 1 {
		t.Errorf("%+v", snapshot.Workload)
	}
}
