package objects

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// pagedLister answers with one object in each of its pages.
type pagedLister struct {
	dynamic.ResourceInterface

	pages []string
	asked []metav1.ListOptions
	fails error
}

func (l *pagedLister) List(_ context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	l.asked = append(l.asked, o)
	if n := len(l.asked); n <= len(l.pages) {
		list := &unstructured.UnstructuredList{Object: map[string]any{}, Items: make([]unstructured.Unstructured, 1)}
		list.Items[0].SetName(l.pages[n-1])
		if n < len(l.pages) || l.fails != nil {
			list.SetContinue(l.pages[n-1])
		}
		return list, nil
	}
	return nil, l.fails
}

func TestPages_ReadsAllPagesAndAsksForTheVersionOnce(t *testing.T) {
	l := &pagedLister{pages: []string{"a", "b", "c"}}
	var names string
	err := Pages(t.Context(), l, metav1.ListOptions{LabelSelector: "app=web", ResourceVersion: "0"}, func(u *unstructured.Unstructured) error {
		names += u.GetName()
		return nil
	})
	if err != nil || names != "abc" {
		t.Fatalf("%q, %v", names, err)
	}
	for i, o := range l.asked {
		if o.LabelSelector != "app=web" || o.Limit != pageSize || (o.ResourceVersion == "0") != (i == 0) {
			t.Errorf("request %d: %+v", i, o)
		}
	}
}

func TestPages_EndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	l := &pagedLister{pages: []string{"a"}, fails: broken}
	if err := Pages(t.Context(), l, metav1.ListOptions{}, func(*unstructured.Unstructured) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("error of the second page: %v", err)
	}
	l = &pagedLister{pages: []string{"a", "b"}}
	if err := Pages(t.Context(), l, metav1.ListOptions{}, func(*unstructured.Unstructured) error { return broken }); !errors.Is(err, broken) || len(l.asked) != 1 {
		t.Errorf("%v after %d requests", err, len(l.asked))
	}
}
