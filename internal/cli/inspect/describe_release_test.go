package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	safe "github.com/kubectl-kruise/kubectl-kruise/internal/text"
)

var releaseNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golden holds a text against a file, or writes it with UPDATE=1 in the environment.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fixture(t, name), got); diff != "" {
		t.Error(diff)
	}
}

// pod is ready, of a revision and a batch.
func pod(name, hash, batch string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", CreationTimestamp: metav1.NewTime(releaseNow.Add(-10 * time.Minute)),
			Labels: map[string]string{"controller-revision-hash": "web-" + hash, batchLabel: batch},
		},
		Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1), NodeName: "n1"},
		Status: corev1.PodStatus{Phase: "Running", ContainerStatuses: []corev1.ContainerStatus{{
			Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
}

const cloneSet = `{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web, namespace: shop}, spec: {replicas: 4, template: {spec: {containers: [{name: a, image: "web:2"}]}}}, status: {replicas: 4, updatedReplicas: 2, readyReplicas: 4, availableReplicas: 3, updateRevision: web-new}}`

// TestDescribe_RolloutPage holds the pages of both API versions and both styles against files.
func TestDescribe_RolloutPage(t *testing.T) {
	notReady := pod("web-c", "new", "2")
	notReady.Status.ContainerStatuses[0].Ready = false
	list := []corev1.Pod{pod("web-old", "old", ""), notReady, pod("web-b", "new", "2"), pod("web-a", "new", "1")}
	for name, l := range map[string]describeLook{
		"canary": {}, "canary-all": {all: true}, "canary-color": {color: true}, "bluegreen": {}, "alpha": {}, "healthy": {}, "bare": {},
	} {
		t.Run(name, func(t *testing.T) {
			source, _, _ := strings.Cut(name, "-")
			var workload *unstructured.Unstructured
			if source != "bare" {
				workload = object(t, cloneSet)
			}
			got, err := releasePage(object(t, fixture(t, source+".yaml")), workload, list, l, releaseNow)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", safe.Page(got))
		})
	}
}

// TestDefectDescribe_SurvivesBrokenRollouts: whatever part of a Rollout is missing or is not what
// it should be, there is a page or an error.
func TestDefectDescribe_SurvivesBrokenRollouts(t *testing.T) {
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		for _, rest := range []string{
			"{}", "{spec: 3, status: x}", "{spec: {strategy: {}}}", "{spec: {strategy: {canary: {}}}, status: {canaryStatus: {currentStepIndex: 7}}}",
			"{spec: {strategy: {blueGreen: {steps: [null, 3, {matches: [{headers: [{name: a, value: b}]}, 4]}]}}}}",
			"{spec: {strategy: {canary: {steps: [{matches: [{headers: [{}], path: 3, queryParams: x}]}], trafficRoutings: [1, {ingress: 2, customNetworkRefs: [7]}]}}}, status: {phase: Progressing}}",
		} {
			u := object(t, rest)
			u.SetAPIVersion("rollouts.kruise.io/" + version)
			u.SetKind("Rollout")
			for _, w := range []*unstructured.Unstructured{nil, object(t, "{apiVersion: apps/v1, kind: Deployment}"), object(t, cloneSet)} {
				if got, err := releasePage(u, w, []corev1.Pod{{}}, describeLook{}, releaseNow); err != nil || !strings.Contains(got, "Strategy:") {
					t.Errorf("%s: %q, %v", rest, got, err)
				}
			}
		}
	}
}

// TestDefectNoColor_PrintsNoEscapes: without colour there is no escape anywhere, the present step
// included.
func TestDefectNoColor_PrintsNoEscapes(t *testing.T) {
	if strings.Contains(fixture(t, "canary.txt"), "\x1b") || !strings.Contains(fixture(t, "canary-color.txt"), "\x1b[32m") {
		t.Error("colour where there is none, or none where there is")
	}
}

func TestSecondsValue_AcceptsNumbersAndDurations(t *testing.T) {
	for text, want := range map[string]string{"0": "0s", "30": "30s", "5m": "5m0s", "-1": "", "x": ""} {
		var s secondsValue
		err := s.Set(text)
		if got := s.String(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
