package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// meshedPod is a pod in a namespace, on a node of its own, with the sidecar of mesh at a hash.
func meshedPod(namespace string, i int, hash string) *cluster.Pod {
	p := pods(1, "x")[0]
	p.Namespace, p.Name, p.UID, p.Node = namespace, fmt.Sprintf("%s-%d", namespace, i), fmt.Sprintf("%s-%d", namespace, i), fmt.Sprintf("%s-node-%d", namespace, i)
	p.Labels["app"] = "web"
	p.Annotations = map[string]string{
		"kruise.io/sidecarset-injected-list": "mesh", "kruise.io/sidecarset-hash": fmt.Sprintf(`{"mesh":{"hash":%q}}`, hash),
		"kruise.io/sidecarset-hash-without-image": `{"mesh":{"hash":"w"}}`,
	}
	p.Containers = append(p.Containers, cluster.Container{Name: "mesh", Image: "mesh:1", Ready: true, Reported: true, StatusImage: "mesh:1"})
	return p
}

// strangers is a SidecarSet for one of two namespaces: two pods are its own, and three
// are not.
func strangers(t *testing.T) plan.Snapshot {
	t.Helper()
	s := plan.Snapshot{
		Workload:   read(t, strings.Replace(mesh, "spec:", "spec:\n  namespaceSelector: {matchLabels: {mesh: \"on\"}}", 1)),
		Namespaces: map[string]map[string]string{"shop": {"mesh": "on"}, "other": {}},
	}
	s.Workload.Annotations = map[string]string{"kruise.io/sidecarset-hash": "new", "kruise.io/sidecarset-hash-without-image": "w"}
	never := meshedPod("shop", 2, "old")
	never.Annotations, never.Containers = nil, never.Containers[:1]
	elsewhere := meshedPod("other", 1, "old")
	elsewhere.Conditions = []cluster.Condition{{Type: "Ready", Status: corev1.ConditionFalse}}
	s.Pods = []*cluster.Pod{meshedPod("shop", 0, "new"), meshedPod("shop", 1, "new"), never, meshedPod("other", 0, "new"), elsewhere}
	return s
}

// TestCount_SidecarSet: a SidecarSet is handed all pods that its labels match; it counts
// those that Kruise counts in status.matchedPods.
func TestCount_SidecarSet(t *testing.T) {
	s := strangers(t)
	standing := plan.Standing(s)
	if got, want := plan.Count(standing, s), (plan.Tally{Desired: 2, Total: 2, Ready: 2, Updated: 2, UpdatedReady: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	d := diagnose.Workload(diagnose.Question{Name: "sidecarset/mesh", Plan: standing, Snapshot: s, Now: time.Now()})
	for _, c := range d.Causes {
		for _, name := range c.Pods {
			if strings.HasPrefix(name, "other") || name == "shop-2" {
				t.Errorf("%s is in the way, and it is none of the set's: %s", name, c.Why)
			}
		}
	}
}

// TestBuild_SidecarSetLeavesStrangersOut: neither nodes to pull on nor pods that are not
// ready are those of others.
func TestBuild_SidecarSetLeavesStrangersOut(t *testing.T) {
	s := strangers(t)
	desired := read(t, strings.Replace(strings.Replace(mesh, "spec:", "spec:\n  namespaceSelector: {matchLabels: {mesh: \"on\"}}", 1), "mesh:1", "mesh:2", 1))
	p, err := plan.Build(desired, s, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Steps[0].Kind != plan.StepPullImages || !strings.Contains(p.Steps[0].Title, "on 2 nodes") {
		t.Errorf("first step: %s, want a pull on 2 nodes", p.Steps[0].Title)
	}
	for _, text := range p.Warnings {
		if strings.Contains(text, "not ready before") {
			t.Error(text)
		}
	}
}

// TestBuild_HotSidecarIsNotRestarted: the sidecar that works keeps its connections in a hot
// upgrade, so the plan names no container that restarts.
func TestBuild_HotSidecarIsNotRestarted(t *testing.T) {
	const hot = `image: "mesh:1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}`
	before := strings.Replace(mesh, `image: "mesh:1"`, hot, 1)
	for text, want := range map[string]struct {
		restarts int
		said     bool
	}{mesh: {1, false}, before: {0, true}} {
		s := plan.Snapshot{Workload: read(t, text)}
		p, err := plan.Build(read(t, strings.Replace(text, `"mesh:1"`, `"mesh:2"`, 1)), s, plan.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(p.Warnings, "\n"), "sidecar mesh is exchanged hot"); len(p.Change.Restarts) != want.restarts || said != want.said {
			t.Errorf("restarts %v, warnings %v", p.Change.Restarts, p.Warnings)
		}
	}
}
