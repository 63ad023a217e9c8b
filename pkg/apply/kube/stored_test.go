package kube

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestStored_NamesTheVersionThatWroteIt: what this version cannot read names the program that can complete it, of a
// workload and of a group, as it was written last; text that is no name of a version is not repeated.
func TestStored_NamesTheVersionThatWroteIt(t *testing.T) {
	client := fake.NewClientset()
	r := Records{Client: client, Program: "kubectl-kruise v1.2.0"}
	if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna"); err != nil {
		t.Fatal(err)
	}
	r.Program = "kubectl-kruise v1.3.0"
	if _, err := r.Change(t.Context(), web, "bert", func(rec *plan.Record) error { rec.Progress.PausedBy = "bert"; return nil }); err != nil {
		t.Fatal(err)
	}
	group := NewGroups(&Shared{core: client}, Options{Program: "kubectl-kruise v1.4.0"})
	if _, err := group.Begin(t.Context(), plan.Rollout{Namespace: "shop", Name: "all", Members: []plan.Member{{Ref: onePlan.Target.Ref(), Plan: onePlan}}}); err != nil {
		t.Fatal(err)
	}
	namespace, name := r.location(web)
	for _, c := range []struct {
		namespace, name, key, program, want string
	}{
		{namespace, name, keyRecord, "", "kubectl-kruise v1.3.0"},
		{"shop", groupPrefix + "all", keyGroup, "", "kubectl-kruise v1.4.0"},
		{namespace, name, keyRecord, "kubectl-kruise (devel)", "kubectl-kruise (devel)"},
		{namespace, name, keyRecord, "kubectl-kruise v1\x1b[2J", ""},
		{namespace, name, keyRecord, "kubectl-kruise v1 && curl", ""},
	} {
		maps := client.CoreV1().ConfigMaps(c.namespace)
		cm, err := maps.Get(t.Context(), c.name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if cm.Data[c.key] = `{"form": 7`; c.program != "" {
			cm.Annotations[programAnnotation] = c.program
		}
		if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if c.key == keyGroup {
			_, err = group.Load(t.Context(), "shop", "all")
		} else {
			_, err = r.Load(t.Context(), web)
		}
		u, ok := errors.AsType[apply.UnreadableRecordError](err)
		if !ok || u.Program != c.want || strings.Contains(u.Error()+u.Hint(), "curl") {
			t.Errorf("%q: %v", c.want, err)
		}
		if c.want != "" && (!strings.Contains(u.Error(), c.want+" wrote it last") || !strings.Contains(u.Hint(), "complete or abort it with "+c.want)) {
			t.Errorf("%s: %v\n%s", c.want, u, u.Hint())
		}
	}
}
