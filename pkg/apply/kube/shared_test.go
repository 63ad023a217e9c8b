package kube

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// labelled is an object with a label.
func labelled(name, uid, version, team string) *corev1.ConfigMap {
	o := configMapOf(name, uid, version)
	o.Labels = map[string]string{"team": team}
	return o
}

// TestStream_ReadersSeeTheirPart: each reader sees its part of what there is, and what becomes of that; an object
// that leaves its part is gone for it.
func TestStream_ReadersSeeTheirPart(t *testing.T) {
	st := &stream{objects: map[string]runtime.Object{}, readers: map[*streamReader]bool{}}
	if err := st.replace([]any{labelled("a", "1", "5", "red"), labelled("b", "2", "6", "blue")}, "7"); err != nil {
		t.Fatal(err)
	}
	red, one := versions(), versions()
	for m, s := range map[*mirror[string]]source{red: {selector: "team=red"}, one: {fields: "metadata.name=b"}} {
		part, err := s.selection()
		if err != nil {
			t.Fatal(err)
		}
		if err := st.addReader(&streamReader{part, m}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(wantRed, wantOne string) {
		t.Helper()
		r, _ := red.list()
		o, _ := one.list()
		if fmt.Sprint(r) != wantRed || fmt.Sprint(o) != wantOne {
			t.Errorf("%v and %v, want %s and %s", r, o, wantRed, wantOne)
		}
	}
	is("[a/1@5]", "[b/2@6]")
	err := errors.Join(st.put(labelled("c", "3", "8", "red")), st.put(labelled("b", "2", "9", "red")))
	is("[a/1@5 b/2@9 c/3@8]", "[b/2@9]")
	err = errors.Join(err, st.put(labelled("a", "1", "10", "blue")))
	is("[b/2@9 c/3@8]", "[b/2@9]")
	err = errors.Join(err, st.delete(cache.DeletedFinalStateUnknown{Obj: labelled("b", "2", "9", "red")}))
	is("[c/3@8]", "[]")
	err = errors.Join(err, st.replace([]any{labelled("b", "4", "12", "red")}, "12"))
	is("[b/4@12]", "[b/4@12]")
	if err != nil {
		t.Error(err)
	}
	if _, err := (source{fields: "spec.nodeName=n"}).selection(); err == nil {
		t.Error("a field is selected by that no reader can tell")
	}
}

// TestShared_AsksOnce: a permission is asked for once in a namespace, whatever needs it.
func TestShared_AsksOnce(t *testing.T) {
	s, asked := &Shared{}, 0
	for range 3 {
		for _, namespace := range []string{"a", "b"} {
			denied := s.denied(reviewKey{namespace: namespace, verb: "patch", resource: "pods"}, func() bool {
				asked++
				return namespace == "b"
			})
			if denied != (namespace == "b") {
				t.Errorf("in namespace %s: %t", namespace, denied)
			}
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
