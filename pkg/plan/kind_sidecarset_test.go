package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const mesh = `
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: mesh}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: mesh, image: "mesh:1"}]
`

// TestSidecarSet_RollsOutByPartition: by partition over the pods that have it.
func TestSidecarSet_RollsOutByPartition(t *testing.T) {
	w := simulate.New(simulate.DefaultOptions())
	w.AddNode("n1", nil)
	for _, text := range []string{mesh, clones("")} {
		if err := w.Apply(must(yaml.Parse(text)).YNode()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Settle(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	ref := read(t, mesh).Ref
	p := built(t, w, ref, strings.ReplaceAll(mesh, "mesh:1", "mesh:2"), plan.Policy{Steps: must(plan.ParseSteps("1,30%,100%"))})
	if got, want := outline(p), "pull 0/10:0, update 1/9:1, step-30% 3/7:2, step-100% 10/0:7"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	at := -1
	d, story := drive(t, w, ref, p, func(d plan.Decision) {
		if d.Step != at && at > 0 {
			if n := meshed(observe(t, w, ref)); n != p.Steps[at].Updated {
				t.Errorf("step %s: %d pods are updated, promised %d", p.Steps[at].Name, n, p.Steps[at].Updated)
			}
		}
		at = d.Step
	})
	if n := meshed(observe(t, w, ref)); d.Verb != plan.Done || n != 10 {
		t.Errorf("%d pods have the new sidecar\n%s", n, strings.Join(story, "\n"))
	}
}

func meshed(s plan.Snapshot) int {
	n := 0
	for _, p := range s.Pods {
		if c, _ := p.Container("mesh"); c.Image == "mesh:2" {
			n++
		}
	}
	return n
}

// TestSidecarSet_PodsThatCannotUpdateInPlace: another change than of images leaves the pods
// behind, and the plan says so.
func TestSidecarSet_PodsThatCannotUpdateInPlace(t *testing.T) {
	s := plan.Snapshot{Workload: read(t, mesh)}
	s.Workload.Annotations = map[string]string{"kruise.io/sidecarset-hash": "h", "kruise.io/sidecarset-hash-without-image": "w"}
	for _, p := range pods(3, "x") {
		p.Annotations = map[string]string{
			"kruise.io/sidecarset-injected-list": "mesh", "kruise.io/sidecarset-hash": `{"mesh":{"hash":"h"}}`,
			"kruise.io/sidecarset-hash-without-image": `{"mesh":{"hash":"w"}}`,
		}
		p.Containers = append(p.Containers, cluster.Container{Name: "mesh", Image: "mesh:1", Ready: true, Reported: true, StatusImage: "mesh:1"})
		s.Pods = append(s.Pods, p)
	}
	p, err := plan.Build(read(t, strings.Replace(mesh, `"mesh:1"`, `"mesh:2", env: [{name: A}]`, 1)), s, plan.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(p.Warnings, "\n"); !strings.Contains(text, "3 of 3 pods cannot take the new sidecars in place") {
		t.Error(text)
	}
	p, err = plan.Build(read(t, strings.Replace(mesh, `"mesh:1"`, `"mesh:2"`, 1)), s, plan.Policy{Pull: plan.PullNever})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := outline(p), "update 1/2:1, step-100% 3/0:2"; got != want || len(p.Warnings) != 0 {
		t.Errorf("%s, %s\nwant %s", got, p.Warnings, want)
	}
}

// TestSidecarSet_SelectorLeavesPodsOut: a canary by updateStrategy.selector updates the pods that
// match, with a warning, and completes; without the selector, the others are updated.
func TestSidecarSet_SelectorLeavesPodsOut(t *testing.T) {
	w := simulate.New(simulate.DefaultOptions())
	w.AddNode("n1", nil)
	canary := strings.NewReplacer("replicas: 10", "replicas: 2", "name: web", "name: canary", "{app: web}", "{app: web, canary: \"true\"}").Replace(clones(""))
	for _, text := range []string{mesh, strings.ReplaceAll(clones(""), "replicas: 10", "replicas: 4"), canary} {
		if err := w.Apply(must(yaml.Parse(text)).YNode()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Settle(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	ref := read(t, mesh).Ref
	partial := strings.ReplaceAll(mesh, "mesh:1", "mesh:2") + "  updateStrategy: {selector: {matchLabels: {canary: \"true\"}}}\n"
	p := built(t, w, ref, partial, plan.Policy{Pull: plan.PullNever, Steps: must(plan.ParseSteps("1,50%,100%"))})
	if got, want := outline(p), "update 1/5:1, step-2 2/4:1"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if text := strings.Join(p.Warnings, "\n"); !strings.Contains(text, "updateStrategy.selector leaves 4 of 6 pods out") {
		t.Errorf("warnings: %s", text)
	}
	d, story := drive(t, w, ref, p, nil)
	s := observe(t, w, ref)
	if n := meshed(s); d.Verb != plan.Done || n != 2 {
		t.Fatalf("%s: %d pods have the new sidecar\n%s", d.Reason, n, strings.Join(story, "\n"))
	}
	q := diagnose.Question{Name: "sidecarset/mesh", Snapshot: s, Now: w.Now()}
	q.ForSpec()
	got := diagnose.Workload(q)
	if !strings.Contains(got.Answer, "2 of 6 pods are up to date") || len(got.Causes) != 1 || got.Causes[0].Blocked || got.Causes[0].Gate != diagnose.GateSelector {
		t.Errorf("%s: %+v", got.Answer, got.Causes)
	}
	all := strings.ReplaceAll(mesh, "mesh:1", "mesh:2")
	p = built(t, w, ref, all, plan.Policy{Pull: plan.PullNever, Steps: must(plan.ParseSteps("100%"))})
	if err := w.Record(t.Context(), ref, s.Version, plan.Progress{}); err != nil {
		t.Fatal(err)
	}
	if d, story = drive(t, w, ref, p, nil); d.Verb != plan.Done || meshed(observe(t, w, ref)) != 6 || p.Steps[len(p.Steps)-1].Updated != 6 {
		t.Errorf("%s, %s: %d pods have the new sidecar\n%s", outline(p), d.Reason, meshed(observe(t, w, ref)), strings.Join(story, "\n"))
	}
}

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
	standing := plan.CurrentSpecPlan(s)
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

// TestBuild_SidecarSetLeavesOtherPodsOut: neither nodes to pull on nor pods that are not
// ready are those of others.
func TestBuild_SidecarSetLeavesOtherPodsOut(t *testing.T) {
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
