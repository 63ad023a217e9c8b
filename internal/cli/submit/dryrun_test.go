package submit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
)

// TestDryRun_TriesOnePodForAll checks also that everything that is written to a workload is tried.
func TestDryRun_TriesOnePodForAll(t *testing.T) {
	list := []event.Request{
		{Method: "PATCH", Path: "/apis/apps/v1/namespaces/a/statefulsets/web"},
		{Method: "PATCH", Path: "/api/v1/namespaces/a/pods/web-1"},
		{Method: "PATCH", Path: "/api/v1/namespaces/a/pods/web-1/status"},
		{Method: "PATCH", Path: "/api/v1/namespaces/a/pods/web-0"},
		{Method: "POST", Path: "/api/v1/namespaces/a/pods/web-1/eviction"},
		{Method: "POST", Path: "/api/v1/namespaces/a/pods/web-0/eviction"},
		{Method: "DELETE", Path: "/api/v1/namespaces/a/pods/web-0"},
		{Method: "POST", Path: "/apis/batch/v1/namespaces/a/jobs"},
		{Method: "POST", Path: "/apis/batch/v1/namespaces/a/jobs"},
		{Method: "PATCH", Path: "/apis/apps/v1/namespaces/a/statefulsets/web"},
		{Method: "PATCH", Path: "/apis/apps/v1/namespaces/pods/statefulsets/web"},
		{Method: "PATCH", Path: "/apis/apps/v1/namespaces/pods/deployments/web"},
	}
	var want []event.Request
	for _, i := range []int{0, 1, 2, 4, 6, 7, 9, 10, 11} {
		want = append(want, list[i])
	}
	if diff := cmp.Diff(want, representatives(list)); diff != "" {
		t.Error(diff)
	}
}
