package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	u := &unstructured.Unstructured{}
	if err == nil {
		err = u.UnmarshalJSON(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestJobState_OfEachKind: how each kind says that it is over, and that it failed.
func TestJobState_OfEachKind(t *testing.T) {
	const kruise = "apps.kruise.io/v1beta1"
	for name, c := range map[string]struct {
		apiVersion, kind, status string
		want                     job
	}{
		"new":                   {"batch/v1", "Job", "{}", job{}},
		"runs":                  {"batch/v1", "Job", "{active: 1, conditions: [{type: Suspended, status: 'False'}]}", job{}},
		"pods have yet to end":  {"batch/v1", "Job", "{conditions: [{type: FailureTarget, status: 'True'}]}", job{}},
		"complete":              {"batch/v1", "Job", "{conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, status: 'True'}]}", job{over: true}},
		"failed":                {"batch/v1", "Job", "{conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: three times}]}", job{true, "BackoffLimitExceeded: three times"}},
		"failed without a word": {kruise, "BroadcastJob", "{conditions: [{type: Failed, status: 'True'}]}", job{true, "it failed"}},
		"pulls":                 {kruise, "ImagePullJob", "{desired: 2, active: 1, failed: 1}", job{}},
		"pulled":                {kruise, "ImagePullJob", "{completionTime: '2026-01-01T00:00:00Z', succeeded: 2}", job{over: true}},
		"not pulled":            {kruise, "ImagePullJob", "{completionTime: '2026-01-01T00:00:00Z', failed: 2, failedNodes: [a, b]}", job{true, "2 nodes could not pull: a, b"}},
		"list pulled":           {kruise, "ImageListPullJob", "{completionTime: '2026-01-01T00:00:00Z'}", job{over: true}},
		"list not pulled":       {kruise, "ImageListPullJob", "{completionTime: '2026-01-01T00:00:00Z', failedImageStatuses: [{name: 'web:1', message: denied}, {name: 'web:2'}]}", job{true, "web:1: denied; web:2"}},
		"ephemeral":             {"apps.kruise.io/v1alpha1", "EphemeralJob", "{completionTime: '2026-01-01T00:00:00Z', failed: 1}", job{true, "1 pod failed"}},
	} {
		u := object(t, "{apiVersion: "+c.apiVersion+", kind: "+c.kind+", metadata: {name: a}, status: "+c.status+"}")
		if got := jobStatus(u); got != c.want || endless(u) != "" {
			t.Errorf("%s: %+v, want %+v; %s", name, got, c.want, endless(u))
		}
	}
}

// TestEndless_IsNotWaitedFor: what does not end by itself is not waited for.
func TestEndless_IsNotWaitedFor(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: batch/v1, kind: Job, spec: {suspend: true}}",
		"{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, spec: {paused: true}}",
		"{apiVersion: apps.kruise.io/v1beta1, kind: BroadcastJob, spec: {completionPolicy: {type: Never}}}",
		"{apiVersion: batch/v1, kind: CronJob}",
		"{apiVersion: example.com/v1, kind: Job}",
	} {
		if endless(object(t, text)) == "" {
			t.Errorf("%s is waited for", text)
		}
	}
}
