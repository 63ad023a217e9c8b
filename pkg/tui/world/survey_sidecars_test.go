package world_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// question is what is known of a set whose hashes are new and same.
func question(t *testing.T, spec string, list ...*cluster.Pod) diagnose.Question {
	t.Helper()
	w, err := cluster.ReadWorkload(node(t, `{apiVersion: apps.kruise.io/v1beta1, kind: SidecarSet, metadata: {name: mesh, uid: u, annotations: {
		kruise.io/sidecarset-hash: new, kruise.io/sidecarset-hash-without-image: same}}, spec: `+spec+`, status: {latestRevision: mesh-2, matchedPods: 0, updatedPods: 0, readyPods: 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	return diagnose.Question{Now: time.Unix(1e9, 0), Snapshot: plan.Snapshot{Workload: w, Pods: list}}
}

const hot = `{selector: {matchLabels: {mesh: "on"}}, updateStrategy: {partition: 10%}, containers: [
	{name: proxy, image: "proxy:2", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}]}`

// pod of a workload has the set with these hashes, working in proxy-1, with these
// images in proxy-1 and proxy-2.
func pod(name, workload, hash, withoutImage, first, second string) *cluster.Pod {
	return &cluster.Pod{
		Namespace: "shop", Name: name, UID: name, Node: "n", Phase: corev1.PodRunning, Labels: map[string]string{"mesh": "on"},
		Owner: cluster.Owner{Kind: "CloneSet", Name: workload},
		Annotations: map[string]string{
			kruise.SidecarSetInjectedListAnnotation:      "other,mesh",
			kruise.SidecarSetHashAnnotation:              `{"mesh":{"hash":"` + hash + `"}}`,
			kruise.SidecarSetHashWithoutImageAnnotation:  `{"mesh":{"hash":"` + withoutImage + `"}}`,
			kruise.SidecarSetWorkingHotUpgradeAnnotation: `{"proxy":"proxy-1"}`,
		},
		Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue}},
		Containers: []cluster.Container{running("app", "app:1"), running("proxy-1", first), running("proxy-2", second)},
	}
}

func running(name, image string) cluster.Container {
	return cluster.Container{Name: name, Image: image, StatusImage: image, ImageID: image, Reported: true, Ready: true}
}

func owner(p *cluster.Pod) cluster.Ref {
	return cluster.Ref{Group: kruise.Group, Kind: p.Owner.Kind, Namespace: p.Namespace, Name: p.Owner.Name}
}

func TestSidecars(t *testing.T) {
	starting := pod("basket-2", "basket", "new", "same", "proxy:2", "proxy:1")
	starting.Containers[1].Ready, starting.Conditions = false, nil
	old := pod("basket-3", "basket", "old", "same", "proxy:1", "empty:1")
	changed := pod("basket-4", "basket", "old", "other", "proxy:1", "empty:1")
	turning := pod("cart-0", "cart", "new", "same", "proxy:2", "proxy:1")
	without := pod("cart-1", "cart", "", "", "x", "y")
	without.Annotations = nil
	lacks := pod("cart-2", "cart", "new", "same", "proxy:2", "empty:1")
	lacks.Containers = lacks.Containers[:2]
	gone := pod("cart-3", "cart", "new", "same", "proxy:2", "empty:1")
	gone.Deleting = true
	other := pod("blog-0", "blog", "", "", "x", "y")
	other.Labels, other.Annotations = nil, nil
	done := pod("basket-1", "basket", "new", "same", "proxy:2", "empty:1")

	got := world.SurveySidecars([]diagnose.Question{question(t, hot, done, starting, old, changed, turning, without, lacks, gone, other)}, owner)
	basket, cart := owner(done), owner(turning)
	want := &world.Sidecars{Sets: []*world.SidecarSet{{
		Name: "mesh", Revision: "mesh-2", Partition: "10%", Containers: []world.SidecarContainer{{Name: "proxy", Image: "proxy:2", Hot: true}},
		Matched: 5, Updated: 3, Ready: 3,
		Cells: []world.SidecarCell{
			{
				Workload: basket, Matched: 4, Updated: 2, Ready: 3, UpdatedReady: 1, Upgrading: map[string]string{"basket-2": "proxy-1 starts beside proxy-2"},
				Held: []world.Held{{Pods: []string{"basket-4"}, Why: "the sidecars changed in more than images since the pod was created, and only images can change in place"}},
			},
			{
				Workload: cart, Matched: 1, Updated: 1, Upgrading: map[string]string{"cart-0": "proxy-1 is ready, proxy-2 is emptied next"},
				Held: []world.Held{
					{Pods: []string{"cart-1"}, Why: "the set matches it and is not in it: only a new pod gets it"},
					{Pods: []string{"cart-2"}, Why: "the set does not count it: its labels or namespace do not match, or it lacks containers that the set has now"},
				},
			},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSidecars_ThatTheStrategyKeeps: what the strategy keeps is shown, and several sets are by name.
func TestSidecars_ThatTheStrategyKeeps(t *testing.T) {
	frozen := question(t, `{selector: {matchLabels: {a: b}}, updateStrategy: {type: NotUpdate, paused: true}, containers: [{name: log, image: "log:1"}]}`)
	frozen.Snapshot.Workload.Name = "a-log"
	got := world.SurveySidecars([]diagnose.Question{question(t, hot), frozen}, owner)
	if s := got.Sets[0]; s.Name != "a-log" || !s.Frozen || !s.Paused || s.Containers[0].Hot || len(s.Cells) > 0 {
		t.Errorf("%+v", s)
	}
}
