package inspect

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func revision(number int64, name string) appsv1.ControllerRevision {
	return appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(releaseNow.Add(-time.Hour))}, Revision: number}
}

// TestDescribe_WorkloadPage holds the page of a workload against a file.
func TestDescribe_WorkloadPage(t *testing.T) {
	u := object(t, fixture(t, "cloneset.yaml"))
	got := kindPage(u, relatedObjects{
		hasPods: true, pods: []corev1.Pod{pod("web-a", "new", ""), pod("web-b", "old", "")},
		revisions: []appsv1.ControllerRevision{revision(2, "web-new"), revision(1, "web-old")},
		events: &corev1.EventList{Items: []corev1.Event{{
			Type: "Normal", Reason: "SuccessfulCreate", Message: "succeed to create pod web-a", Source: corev1.EventSource{Component: "cloneset-controller"},
		}}},
	}, 0, releaseNow)
	golden(t, "cloneset.txt", got)
}

// TestDescribe_HidesSecrets: of the Secret that a ResourceDistribution holds, or of one
// anywhere else, sizes are shown and nothing else.
func TestDescribe_HidesSecrets(t *testing.T) {
	const secret = "hunter2"
	u := object(t, `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata:
  name: pass
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"stringData": {"x": "hunter2"}}', note: kept}
spec:
  resource:
    apiVersion: v1
    kind: Secret
    metadata: {name: pass, annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}}
    data: {password: aHVudGVyMg==}
    stringData: {other: hunter2}
  targets: {allNamespaces: true}
`)
	got := kindPage(u, relatedObjects{}, 0, releaseNow)
	if strings.Contains(got, secret) || strings.Contains(got, "aHVudGVyMg") {
		t.Errorf("told:\n%s", got)
	}
	for _, want := range []string{"password: 7 bytes", "other: 7 bytes", "note=kept", "allNamespaces: true"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if resource := mapPart(u.Object, "spec", "resource", "data"); stringPart(resource, "password") != "aHVudGVyMg==" {
		t.Error("the object itself was changed")
	}
	broken := object(t, "{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, spec: {resource: {kind: Secret, data: [hunter2], metadata: 3}}}")
	if got := kindPage(broken, relatedObjects{}, 0, releaseNow); strings.Contains(got, secret) {
		t.Errorf("told:\n%s", got)
	}
	// A ConfigMap is none.
	plain := object(t, "{apiVersion: apps.kruise.io/v1beta1, kind: ResourceDistribution, spec: {resource: {kind: ConfigMap, data: {a: shown}}}}")
	if got := kindPage(plain, relatedObjects{}, 0, releaseNow); !strings.Contains(got, "a: shown") {
		t.Errorf("hidden:\n%s", got)
	}
}

// TestDescribe_AcceptsAnyObject: whatever an object holds, there is a page.
func TestDescribe_AcceptsAnyObject(t *testing.T) {
	for _, k := range kruise.Kinds() {
		for _, rest := range []string{"{}", "{spec: 3, status: [1]}", "{spec: {template: 7, selector: x}, status: {conditions: [3, {type: Failed, failedNamespaces: [a, 4]}, {message: 5}]}}", "{metadata: {deletionTimestamp: '2026-03-01T11:59:00Z', finalizers: [a]}}"} {
			u := object(t, rest)
			u.SetKind(k.Kind)
			u.SetAPIVersion(k.Group + "/" + k.Newest())
			if got := kindPage(u, relatedObjects{without: "cannot be told: no"}, 0, releaseNow); !strings.Contains(got, k.Kind) || !strings.Contains(got, "cannot be told") {
				t.Errorf("%s %s:\n%s", k.Kind, rest, got)
			}
		}
	}
}
