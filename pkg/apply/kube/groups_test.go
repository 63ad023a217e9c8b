package kube

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestGroups_ListIsBounded: who may write ConfigMaps in one namespace makes the list of all groups
// no more expensive than a list of records, and hides no group of another namespace.
func TestGroups_ListIsBounded(t *testing.T) {
	client := fake.NewClientset()
	add := func(namespace, name string, padding int) {
		t.Helper()
		one := onePlan
		one.Target.Namespace = namespace
		rec := plan.Rollout{Namespace: namespace, Name: name, Members: []plan.Member{{Ref: one.Target.Ref(), Plan: one}}}
		cm, err := groupConfigMap(rec)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := decompressTo(cm.BinaryData[keyPlans], maxUnpackedBytes)
		if err != nil {
			t.Fatal(err)
		}
		cm.BinaryData[keyPlans] = compress([]byte(string(plans) + strings.Repeat(" ", padding)))
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	add("mallory", "a", maxNamespaceBytes*2/3)
	add("mallory", "b", maxNamespaceBytes*2/3)
	add("mallory", "c", maxNamespaceBytes)
	add("shop", "all", 0)
	list, unreadable, err := NewGroups(&Shared{core: client}, Options{}).List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, r.Namespace+"/"+r.Name)
	}
	if text := strings.Join(got, " "); text != "mallory/a shop/all" {
		t.Errorf("listed: %s", text)
	}
	got = nil
	for _, u := range unreadable {
		if !u.Group || !strings.Contains(u.Error(), "left out of the list") {
			t.Errorf("a group that is left out: %v", u)
		}
		got = append(got, u.Namespace)
	}
	if text := strings.Join(got, " "); text != "mallory mallory" {
		t.Errorf("left out in: %s", text)
	}
}

// TestGroups_AreNamedAsTheirConfigMap: a record that was copied to another name is no group of that name.
func TestGroups_AreNamedAsTheirConfigMap(t *testing.T) {
	cm, err := groupConfigMap(plan.Rollout{Namespace: "shop", Name: "all", Members: []plan.Member{{Ref: onePlan.Target.Ref(), Plan: onePlan}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := groups.read(cm); err != nil {
		t.Error(err)
	}
	cm.Name = groupPrefix + "other"
	if _, err := groups.read(cm); err == nil || !strings.Contains(err.Error(), `it says that it is "all"`) {
		t.Errorf("%v", err)
	}
}
