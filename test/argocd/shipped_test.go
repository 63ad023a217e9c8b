package argocd

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shipped are the kinds for which Argo CD has scripts of its own.
var shipped = []string{"AdvancedCronJob", "BroadcastJob", "CloneSet", "DaemonSet", "StatefulSet"}

// row is one of the page's differences: kind, Argo CD's status, ours, and why.
var row = regexp.MustCompile("(?m)^\\| (\\w+) \\| (\\w+) \\| (\\w+) \\| (.{20,}) \\|$")

// TestShipped_DifferencesHaveReasons: the page gives a reason for each difference to Argo CD's own scripts that
// there is over the recorded statuses, and for no other.
func TestShipped_DifferencesHaveReasons(t *testing.T) {
	page, err := os.ReadFile("../../plugins/argocd/README.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		explained[m[1]+": "+m[2]+", ours "+m[3]] = true
	}
	found, compared := map[string]string{}, map[string]int{}
	for _, r := range recorded(t) {
		if !slices.Contains(shipped, r.GetKind()) {
			continue
		}
		compared[r.GetKind()]++
		// An error of a script is the status Unknown.
		theirs := health.HealthStatusUnknown
		if h, err := (lua.ResourceHealthOverrides{}).GetResourceHealth(r.Unstructured); err == nil {
			theirs = h.Status
		}
		if h := ours(t, r.Unstructured); h.Status != theirs {
			found[fmt.Sprintf("%s: %s, ours %s", r.GetKind(), theirs, h.Status)] = r.file + ": " + h.Message
		}
	}
	for _, kind := range shipped {
		if compared[kind] == 0 {
			t.Errorf("no %s is recorded", kind)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !explained[key] {
			t.Errorf("not on the page: %s (%s)", key, found[key])
		}
	}
	for key := range explained {
		if found[key] == "" {
			t.Errorf("on the page, but not found: %s", key)
		}
	}
}

// TestHealth_OfRecordedStatuses: over what the real Kruise wrote, a workload is Healthy where its
// update has ended or has come to where its spec says, and Suspended only when paused.
func TestHealth_OfRecordedStatuses(t *testing.T) {
	seen := map[health.HealthStatusCode]int{}
	stopped := 0
	for _, r := range recorded(t) {
		h := ours(t, r.Unstructured)
		seen[h.Status]++
		if h.Status == health.HealthStatusSuspended && !paused(r.Unstructured) {
			t.Errorf("%s: %s without a pause (%s)", r.file, r.GetKind(), h.Message)
		}
		if !strings.HasPrefix(r.file, "rollout.zip") || !slices.Contains([]string{"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet"}, r.GetKind()) {
			continue
		}
		part := strings.Contains(h.Message, " updated, ")
		if strings.HasSuffix(h.Message, "updated, stopped at its partition") {
			stopped++
		}
		if whole := finished(r.Object); (whole || part) != (h.Status == health.HealthStatusHealthy) || whole && part {
			t.Errorf("%s: %s (%s), finished: %v\n%v", r.file, h.Status, h.Message, whole, r.Object["status"])
		}
	}
	for _, status := range []health.HealthStatusCode{health.HealthStatusHealthy, health.HealthStatusProgressing, health.HealthStatusSuspended, health.HealthStatusDegraded} {
		if seen[status] == 0 {
			t.Errorf("no recording is %s: %v", status, seen)
		}
	}
	if stopped == 0 {
		t.Error("no recording has stopped at its partition")
	}
}

// paused reports whether the object says paused in any of the places of its kind, or the
// failure policy of a job has paused it.
func paused(o *unstructured.Unstructured) bool {
	for _, path := range [][]string{{"spec"}, {"spec", "updateStrategy"}, {"spec", "updateStrategy", "rollingUpdate"}} {
		if at(o.Object, append(path, "paused")...) == true {
			return true
		}
	}
	return at(o.Object, "status", "phase") == "paused"
}

// finished reports whether a status says that every pod is new and available, apart from
// what scripts make of it.
func finished(o map[string]any) bool {
	number := func(in, field string) float64 {
		m, _ := o[in].(map[string]any)
		n, _ := m[field].(int64)
		return float64(n)
	}
	if number("status", "observedGeneration") < number("metadata", "generation") {
		return false
	}
	switch o["kind"] {
	case "DaemonSet":
		n := number("status", "desiredNumberScheduled")
		return number("status", "updatedNumberScheduled") == n && number("status", "numberAvailable") == n
	case "SidecarSet":
		strategy, _ := o["spec"].(map[string]any)["updateStrategy"].(map[string]any)
		n := number("status", "matchedPods")
		if strategy["type"] == "NotUpdate" && number("status", "updatedPods") < n {
			return true // as far as it goes by itself
		}
		return number("status", "updatedPods") == n // whether they are ready is their workloads' health
	}
	n := number("spec", "replicas")
	return number("status", "updatedReplicas") == n && number("status", "availableReplicas") == n && number("status", "replicas") == n
}
