package migrate

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const live = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{
  "name":"web","namespace":"shop","uid":"1","resourceVersion":"7","generation":3,"creationTimestamp":"2026-01-01T00:00:00Z",
  "labels":{"team":"shop"},"finalizers":["example.com/hold"],
  "annotations":{"note":"keep","deployment.kubernetes.io/revision":"4","kubectl.kubernetes.io/last-applied-configuration":"{}"}},
 "spec":{"replicas":4,"paused":true,"minReadySeconds":5,"revisionHistoryLimit":3,"selector":{"matchLabels":{"app":"web"}},
  "strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":1}},
  "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i:1","someday":true}]}}},
 "status":{"replicas":4}}`

// TestDefectCopy_LeavesOutFieldsOfTheOldWorkload: what belongs to the old workload alone does not come along.
func TestDefectCopy_LeavesOutFieldsOfTheOldWorkload(t *testing.T) {
	m, err := counterpart(t.Context(), object(t, live), migrate.KindOf("CloneSet"), kruise.V1beta1, "new", 0, kruise.Next)
	if err != nil {
		t.Fatal(err)
	}
	u := m.object
	if u.GetKind() != "CloneSet" || u.GetName() != "new" || u.GetNamespace() != "shop" || u.GetUID() != "" || u.GetResourceVersion() != "" || len(u.GetFinalizers()) > 0 {
		t.Errorf("%v", u.Object["metadata"])
	}
	for key, want := range map[string]string{"note": "keep", "deployment.kubernetes.io/revision": "", "kubectl.kubernetes.io/last-applied-configuration": ""} {
		if got := u.GetAnnotations()[key]; got != want {
			t.Errorf("annotation %s: %q", key, got)
		}
	}
	for _, c := range []struct {
		want any
		path []string
	}{
		{int64(0), []string{"spec", "replicas"}},
		{int64(5), []string{"spec", "minReadySeconds"}},
		{int64(3), []string{"spec", "revisionHistoryLimit"}},
		{"web", []string{"spec", "selector", "matchLabels", "app"}},
		{"cloneset.new", []string{"spec", "selector", "matchLabels", kruise.WorkloadLabel}},
		{"cloneset.new", []string{"spec", "template", "metadata", "labels", kruise.WorkloadLabel}},
		{"web", []string{"spec", "template", "metadata", "labels", "app"}},
		{nil, []string{"status"}},
	} {
		if got, _, _ := unstructured.NestedFieldNoCopy(u.Object, c.path...); got != c.want {
			t.Errorf("%v: %v (%T), want %v", c.path, got, got, c.want)
		}
	}
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	if c, _ := containers[0].(map[string]any); c["someday"] != true {
		t.Errorf("an unknown field is lost: %v", containers)
	}
	rolling, _, _ := unstructured.NestedMap(u.Object, "spec", "updateStrategy", "rollingUpdate")
	if rolling["maxSurge"] != int64(2) || rolling["maxUnavailable"] != int64(1) || rolling["paused"] != true || rolling["podUpdatePolicy"] == "InPlaceIfPossible" {
		t.Errorf("strategy: %v", rolling)
	}
}

func TestCounterpart_Versions(t *testing.T) {
	m, err := counterpart(t.Context(), object(t, live), migrate.KindOf("CloneSet"), kruise.V1alpha1, "web", 4, kruise.NewestRelease)
	if err != nil || m.object.GetAPIVersion() != "apps.kruise.io/v1alpha1" {
		t.Fatalf("%v, %v", m, err)
	}
	back, err := counterpart(t.Context(), m.object, migrate.KindOf("Deployment"), "v1", "web", 4, kruise.Release{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedString(back.object.Object, "spec", "selector", "matchLabels", kruise.WorkloadLabel)
	if back.object.GetAPIVersion() != "apps/v1" || got != "deployment.web" {
		t.Errorf("%s with %s", back.object.GetAPIVersion(), got)
	}
}

// TestCounterpart_LeavesOutFieldsThatTheReleaseLacks: the new workload has no field that the cluster's release lacks, and
// that is said.
func TestCounterpart_LeavesOutFieldsThatTheReleaseLacks(t *testing.T) {
	const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"progressDeadlineSeconds":60,
  "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"example.com/web:1"}]}}}}`
	for release, want := range map[kruise.Release]bool{kruise.Minor(8): false, kruise.NewestRelease: true, {}: true} {
		m, err := become(t.Context(), object(t, deployment), migrate.KindOf("CloneSet"), kruise.V1alpha1, release)
		if err != nil {
			t.Fatal(err)
		}
		_, has, _ := unstructured.NestedFieldNoCopy(m.object.Object, "spec", "progressDeadlineSeconds")
		lost := slices.ContainsFunc(m.findings, func(f finding.Finding) bool {
			return f.Severity == finding.Lost && f.Field == "spec.progressDeadlineSeconds"
		})
		if has != want || lost == want {
			t.Errorf("%q: %t, lost %t, want %t", release, has, lost, want)
		}
	}
}
