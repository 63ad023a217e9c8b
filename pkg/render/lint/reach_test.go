package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
)

// reaching is an object that Kruise accepts and that does not reach what it seems to, and the same
// object without the mistake.
type reaching struct{ rule, bad, good string }

func reachings() []reaching {
	shop := "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: shop, namespace: demo}\nspec:\n  replicas: 5\n  updateStrategy: {maxSurge: 2}\n" +
		"  selector: {matchLabels: {app: shop}}\n  template:\n    metadata: {labels: {app: shop}}\n    spec: {containers: [{name: app, image: 'example.com/shop:1'}]}\n---\n"
	sidecars := func(spec string) string {
		return "apiVersion: apps.kruise.io/v1alpha1\nkind: SidecarSet\nmetadata: {name: agent}\nspec: {selector: {matchLabels: {app: shop}}, " + spec + "}\n"
	}
	spread := func(last string) string {
		return "apiVersion: apps.kruise.io/v1alpha1\nkind: WorkloadSpread\nmetadata: {name: s, namespace: demo}\nspec: {targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: shop}, subsets: [{name: a, maxReplicas: 3}, {name: b, maxReplicas: " + last + "}]}\n"
	}
	marker := func(container string) string {
		return "apiVersion: apps.kruise.io/v1alpha1\nkind: PodProbeMarker\nmetadata: {name: idle, namespace: demo}\nspec: {selector: {matchLabels: {app: shop}}, probes: [{name: idle, containerName: " + container + ", podConditionType: game.io/idle, probe: {exec: {command: [/idle]}}}]}\n"
	}
	return []reaching{
		{"podprobemarker/container-missing", shop + marker("game"), shop + marker("app")},
		{"podprobemarker/container-missing", shop + marker("game"), shop + marker("game") + "---\n" + sidecars("containers: [{name: game, image: i}]")},
		{"sidecarset/replaces-container", shop + sidecars("containers: [{name: app, image: i}]"), shop + sidecars("containers: [{name: log, image: i}]")},
		{"sidecarset/system-namespace", sidecars("namespace: kube-system, containers: [{name: log, image: i}]"), sidecars("namespace: demo, containers: [{name: log, image: i}]")},
		{"workloadspread/no-room-for-surge", shop + spread("2"), shop + spread("4")},
		{"object/launch-priority-without-effect", strings.Replace(shop, "{name: shop, namespace: demo}", "{name: shop, namespace: demo, annotations: {apps.kruise.io/container-launch-priority: Ordered}}", 1), shop},
		{"object/wrong-group", strings.Replace(shop, "apps.kruise.io/v1alpha1", "apps/v1", 1), shop},
		{"object/wrong-group", strings.Replace(shop, "apps.kruise.io/v1alpha1", "app.kruise.io/v1alpha1", 1), strings.Replace(shop, "apps.kruise.io/v1alpha1", "example.com/v1", 1)},
		{"sidecarset/pod-metadata-invalid", sidecars("containers: [{name: log, image: i}], patchPodMetadata: [{annotations: {a: b}}]"), sidecars("containers: [{name: log, image: i}]")},
	}
}

// TestReach_Rules: the object has a warning, and without the mistake it has none.
func TestReach_Rules(t *testing.T) {
	for _, c := range reachings() {
		for text, want := range map[string]bool{c.bad: true, c.good: false} {
			problems := lint.Run(t.Context(), lint.Request{Objects: golden.Parse(t, text)})
			if got := slices.ContainsFunc(problems, func(p lint.Problem) bool { return p.Rule == c.rule }); got != want {
				t.Errorf("%s: reported %v, want %v, for\n%s", c.rule, got, want, text)
			}
		}
	}
}

// TestReach_NamesEachContainerOnce: two workloads with a container of the same name are no two containers to choose from.
func TestReach_NamesEachContainerOnce(t *testing.T) {
	bad := reachings()[0].bad
	second, _, _ := strings.Cut(strings.Replace(bad, "name: shop", "name: other", 1), "---\n")
	for _, p := range lint.Run(t.Context(), lint.Request{Objects: golden.Parse(t, second+"---\n"+bad)}) {
		if p.Rule == "podprobemarker/container-missing" && p.Hint != "name one of the containers: app" {
			t.Errorf("hint %q", p.Hint)
		}
	}
}
