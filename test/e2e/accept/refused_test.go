package accept

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// refusals are the recorded inputs that Kruise takes and rendering does not, and
// why. Whatever else is refused is a defect of the renderer.
var refusals = map[string]string{
	// The recorded server took these without strict field validation; kubectl apply asks for it, and is refused.
	"jobs/032-cron-broadcast-every-minute":        "metadata.labels: unknown field",
	"jobs/033-cron-imagelist-every-minute":        "metadata.labels: unknown field",
	"lint/077-advancedcronjob-job-restartpolicy":  "a Job's pods must end",               // Kruise makes no Job of it, either
	"lint/114-sidecarset-hot-without-empty-image": "every pod would be refused",          // as a policy; Kruise's pods are refused, too
	"lint/292-pub-alpha-annotations":              "a PodDisruptionBudget has no target", // nor is the target known
	"lint/521-imagepulljob-zero-parallelism":      "no pods are known, so the nodes",     // it selects nodes by their pods
}

// nowhere is said of what goes to unknown nodes or namespaces.
var nowhere = []string{"no node is known", "no namespace is known"}

// judge holds the refusals of recorded inputs against the list. The fixtures of
// stages hold much that is no whole object.
func judge(t *testing.T, refused map[string]error) {
	t.Helper()
	used := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(refused)) {
		name, way, _ := strings.Cut(from, " (")
		said := refused[from].Error()
		unknown := way == "native)" && slices.ContainsFunc(nowhere, func(s string) bool { return strings.Contains(said, s) })
		switch why := refusals[name]; {
		case strings.Contains(name, "/testdata/"), unknown:
		case why == "" || !strings.Contains(said, why):
			t.Errorf("%s is refused: %s", from, said)
		default:
			used[name] = true
		}
	}
	for name := range refusals {
		if !used[name] {
			t.Errorf("%s is not refused any more: take it from the list", name)
		}
	}
}
