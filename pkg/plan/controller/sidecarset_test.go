package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// newSidecars is a SidecarSet with n pods, one second apart, that got its
// sidecars and are ready.
func newSidecars(t *testing.T, n int, body string) *lab {
	t.Helper()
	l := &lab{
		t: t, now: labStart, gates: cluster.DefaultGates(), broken: map[string]bool{}, refused: map[string]bool{},
		namespaces: map[string]map[string]string{"default": {kruise.NamespaceNameLabel: "default"}},
	}
	l.set(body)
	l.settle()
	l.join(n)
	l.settle()
	l.did()
	return l
}

// set writes the SidecarSet's spec.
func (l *lab) set(body string) {
	l.t.Helper()
	w := storedSet(l.t, "meshset", body)
	w.UID, w.Generation = "w", 1
	if l.w != nil {
		w.Generation = l.w.Generation + 1
		w.Object = withStatus(w.Object, statusOf(l.w.Object))
	}
	l.w = w
}

// join adds pods that are created now.
func (l *lab) join(n int) {
	l.t.Helper()
	s := AdmissionInput{SidecarSets: []SidecarSource{{Workload: l.w, Revisions: l.revisions}}, Namespaces: l.namespaces}
	m := admission(l.t, s).PodFactory(webTemplate(l.t, ""))
	for range n {
		l.made++
		name := fmt.Sprintf("web-%d", l.made)
		p, err := m.Pod(CreatePod{}, PodRequest{Namespace: "default", Name: name}, "", l.now)
		if err != nil {
			l.t.Fatal(err)
		}
		p.UID = fmt.Sprintf("p%d", l.made)
		l.pods = append(l.pods, l.run(p))
		l.now = l.now.Add(1e9)
	}
}

func (l *lab) sidecars() kruise.SidecarSetStatus { return l.w.Object.(*kruise.SidecarSet).Status }

func next(body string) string { return strings.ReplaceAll(body, "mesh:1.0", "mesh:2.0") }

// TestSidecarSet_Status is the status of case 301 before its step.
func TestSidecarSet_Status(t *testing.T) {
	l := newSidecars(t, 4, mesh)
	want := kruise.SidecarSetStatus{
		ObservedGeneration: 1, MatchedPods: 4, UpdatedPods: 4, ReadyPods: 4, UpdatedReadyPods: 4,
		LatestRevision: "meshset-7bd6fbfb77", CollisionCount: new(int32(0)),
	}
	if diff := cmp.Diff(want, l.sidecars()); diff != "" {
		t.Error(diff)
	}
	if got := l.w.Annotations[kruise.SidecarSetHashAnnotation]; got != "6d6cvxz49vx22245bb54v8d84v4c9v6cvbb8dv44w2d4ccc79d4z2d7z84wfxbz6" {
		t.Errorf("hash %s", got)
	}
}

// TestSidecarSet_Rollouts runs whole rollouts, as recorded.
func TestSidecarSet_Rollouts(t *testing.T) {
	up := func(names ...string) string {
		var out []string
		for _, n := range names {
			out = append(out, "image "+n+" 2.0", "set "+n+" SidecarSetUpgradable=True")
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct {
		name, strategy string
		want           []string
	}{
		{"301: one at a time, the most recently ready first", "", []string{up("web-4"), up("web-3"), up("web-2"), up("web-1")}},
		{"302: half, rounded up", "maxUnavailable: 50%", []string{up("web-4", "web-3"), up("web-2", "web-1")}},
		{"303: partition", "partition: 3", []string{up("web-4")}},
		{"304: selector", "selector: {matchLabels: {canary: 'yes'}}", []string{up("web-3"), up("web-1")}},
		{"305: paused", "paused: true", nil},
		{"313: NotUpdate", "type: NotUpdate", nil},
		{"308: priority", "partition: 2, priorityStrategy: {weightPriority: [{weight: 50, matchSelector: {matchLabels: {canary: 'yes'}}}]}", []string{up("web-3"), up("web-1")}},
		{"all", "maxUnavailable: 4", []string{up("web-4", "web-3", "web-2", "web-1")}},
		{"nothing may go", "maxUnavailable: 0", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := mesh + "updateStrategy: {" + c.strategy + "}"
			l := newSidecars(t, 4, body)
			for _, name := range []string{"web-1", "web-3"} {
				l.edit(name, cluster.PodChange{Labels: map[string]*string{"canary": new("yes")}})
			}
			l.set(next(body))
			l.settle()
			var got []string
			if did := l.did(); did != "" {
				got = append(got, did)
			}
			if diff := cmp.Diff(c.want, append(got, l.rollout()...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			updated := 0
			for _, round := range c.want {
				updated += strings.Count(round, "image")
			}
			if s := l.sidecars(); int(s.UpdatedPods) != updated || s.ReadyPods != 4 || int(s.UpdatedReadyPods) != updated || s.LatestRevision != "meshset-6cd998dc78" {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestSidecarSet_UpgradePatch is what one upgrade writes to a pod
// (docs/kruise/sidecarset.md#the-patch-of-one-pod).
func TestSidecarSet_UpgradePatch(t *testing.T) {
	body := mesh + "patchPodMetadata: [{annotations: {tuned: 'yes'}, patchPolicy: Overwrite}, {annotations: {kept: new}}]"
	l := newSidecars(t, 1, body)
	l.edit("web-1", cluster.PodChange{Annotations: map[string]*string{"tuned": new("no"), "kept": new("old")}})
	l.set(next(body))
	before := l.pod("web-1").Annotations
	pass := l.pass()
	change := pass.Actions[1].(PatchPod).Change
	written := map[string]string{}
	for key, v := range change.Annotations {
		written[key] = *v
	}
	want := map[string]string{
		kruise.SidecarSetHashAnnotation: `{"meshset":{"updateTimestamp":"2026-07-01T12:00:01Z","hash":"8744x98f4z8w7xcd6xvcwxbz97b4vf27456x7z9v4x2b97c4wb5vxzx98vz55czz",` +
			`"sidecarSetName":"meshset","sidecarList":["mesh"],"controllerRevision":"` + l.sidecars().LatestRevision + `"}}`,
		kruise.SidecarSetInPlaceUpdateStateAnnotation: `{"meshset":{"revision":"8744x98f4z8w7xcd6xvcwxbz97b4vf27456x7z9v4x2b97c4wb5vxzx98vz55czz",` +
			`"updateTimestamp":"2026-07-01T12:00:01Z","lastContainerStatuses":{"mesh":{"imageID":"sha256:mesh:1.0"}}}}`,
		"tuned": "yes",
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := l.pod("web-1").Annotations[kruise.SidecarSetHashWithoutImageAnnotation]; got != before[kruise.SidecarSetHashWithoutImageAnnotation] {
		t.Error("the hash without image was touched")
	}
	if diff := cmp.Diff(map[string]string{"mesh": "mesh:2.0"}, change.Images); diff != "" {
		t.Error(diff)
	}
}

// TestSidecarSet_SkipsPodsThatDifferInMoreThanImages is case 307: pods that differ in more than an image
// are marked once and skipped, those made since are upgraded.
func TestSidecarSet_SkipsPodsThatDifferInMoreThanImages(t *testing.T) {
	env := strings.Replace(mesh, `"mesh:1.0"`, `"mesh:1.0", env: [{name: LEVEL, value: debug}]`, 1)
	l := newSidecars(t, 2, mesh)
	l.set(env)
	pass := l.pass()
	if got := l.did(); got != "set web-1 SidecarSetUpgradable=False, set web-2 SidecarSetUpgradable=False" {
		t.Errorf("%q", got)
	}
	event := pass.Actions[len(pass.Actions)-1].(Event)
	if event.Reason != "NotUpgradablePods" || !strings.Contains(event.Message, "detected 2 not upgradable pod(s)") {
		t.Errorf("event %+v", event)
	}
	mark, _ := l.pod("web-1").Condition(kruise.SidecarSetUpgradable)
	if mark.Reason != "UpdateImmutableField" || mark.Message != `{"meshset":false}` {
		t.Errorf("condition %+v", mark)
	}
	l.join(1)
	l.settle()
	if got := l.did(); got != "" {
		t.Errorf("again: %q", got)
	}
	l.set(next(env))
	l.settle()
	if got := l.did(); got != "image web-3 2.0, set web-3 SidecarSetUpgradable=True" {
		t.Errorf("an image on top: %q", got)
	}
	l.second()
	if s := l.sidecars(); s.MatchedPods != 3 || s.UpdatedPods != 1 || s.UpdatedReadyPods != 1 || s.ReadyPods != 3 {
		t.Errorf("status %+v", s)
	}
}

// TestSidecarSet_ConditionIsSharedByTwoSets: a pod with two sets is upgradable only for both.
func TestSidecarSet_ConditionIsSharedByTwoSets(t *testing.T) {
	l := newSidecars(t, 1, mesh)
	other := cluster.SetTo(kruise.SidecarSetUpgradable, corev1.ConditionFalse, "UpdateImmutableField", `{"other":false}`)
	l.edit("web-1", cluster.PodChange{Conditions: []cluster.Condition{other}})
	l.set(next(mesh))
	l.settle()
	got, _ := l.pod("web-1").Condition(kruise.SidecarSetUpgradable)
	if got.Status != corev1.ConditionFalse || got.Message != `{"meshset":true,"other":false}` {
		t.Errorf("condition %+v", got)
	}
}

// TestSidecarSet_UnreadyPodsUseTheBudgetOnceUpgraded is case 310: an unready pod goes outside the budget, and
// uses it up once it is upgraded and still not ready.
func TestSidecarSet_UnreadyPodsUseTheBudgetOnceUpgraded(t *testing.T) {
	l := newSidecars(t, 4, mesh)
	l.breaks("web-2")
	l.did()
	l.set(next(mesh))
	l.settle()
	got := l.did()
	if !strings.HasPrefix(got, "image web-2 2.0, ") || !strings.Contains(got, "image web-4 2.0") || strings.Count(got, "image") != 2 {
		t.Errorf("%q", got)
	}
	if more := l.rollout(); more != nil {
		t.Errorf("while it is broken: %q", more)
	}
	delete(l.broken, "web-2")
	if rounds := l.rollout(); len(rounds) != 2 || !strings.Contains(rounds[0], "web-3") || !strings.Contains(rounds[1], "web-1") {
		t.Errorf("repaired: %q", rounds)
	}
}

// TestSidecarSet_Refused: a budget's refusal ends the pass, and nothing of the
// pod's condition is written (405).
func TestSidecarSet_Refused(t *testing.T) {
	l := newSidecars(t, 3, mesh+"updateStrategy: {maxUnavailable: 3}")
	l.refused["web-2"] = true
	l.set(next(mesh + "updateStrategy: {maxUnavailable: 3}"))
	l.pass()
	if got := l.did(); got != "image web-3 2.0, set web-3 SidecarSetUpgradable=True, refuse web-2" {
		t.Errorf("%q", got)
	}
}

const hotMesh = `
selector: {matchLabels: {app: web}}
containers: [{name: mesh, image: "mesh:1.0", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]
`

// TestSidecarSet_HotUpgrade is case 306, through both upgrades: the new version
// starts beside the old one, which gives way once the new one is ready.
func TestSidecarSet_HotUpgrade(t *testing.T) {
	l := newSidecars(t, 1, hotMesh)
	versions := func() string {
		a := l.pod("web-1").Annotations
		const v, alt = kruise.SidecarSetVersionAnnotationPrefix + "mesh-", kruise.SidecarSetVersionAltAnnotationPrefix + "mesh-"
		return fmt.Sprintf("%s/%s %s/%s %s", a[v+"1"], a[v+"2"], a[alt+"1"], a[alt+"2"], a[kruise.SidecarSetWorkingHotUpgradeAnnotation])
	}
	expect := func(what, images, version string, updatedReady int32) {
		t.Helper()
		if got := imagesOf(l.pod("web-1")); got != images+" main=web:1.0" {
			t.Errorf("%s: %s", what, got)
		}
		if got := versions(); got != version {
			t.Errorf("%s: versions %s, want %s", what, got, version)
		}
		if s := l.sidecars(); s.UpdatedPods != 1 || s.UpdatedReadyPods != updatedReady {
			t.Errorf("%s: status %+v", what, s)
		}
	}
	expect("injected", "mesh-1=mesh:1.0 mesh-2=mesh:empty", `1/0 0/1 {"mesh":"mesh-1"}`, 1)
	l.set(next(hotMesh))
	l.settle()
	expect("upgrade", "mesh-1=mesh:1.0 mesh-2=mesh:2.0", `1/1000 1000/1 {"mesh":"mesh-2"}`, 0)
	l.second()
	expect("flip", "mesh-1=mesh:empty mesh-2=mesh:2.0", `0/1000 1000/0 {"mesh":"mesh-2"}`, 0)
	l.second()
	expect("done", "mesh-1=mesh:empty mesh-2=mesh:2.0", `0/1000 1000/0 {"mesh":"mesh-2"}`, 1)
	l.set(strings.ReplaceAll(hotMesh, "mesh:1.0", "mesh:3.0"))
	l.settle()
	expect("next upgrade", "mesh-1=mesh:3.0 mesh-2=mesh:2.0", `1000/1000 1000/1000 {"mesh":"mesh-1"}`, 0)
	l.seconds(2)
	expect("next flip", "mesh-1=mesh:3.0 mesh-2=mesh:empty", `1000/0 0/1000 {"mesh":"mesh-1"}`, 1)
}

// TestSidecarSet_PauseStopsAHotUpgrade: a pause also keeps a hot upgrade from its end.
func TestSidecarSet_PauseStopsAHotUpgrade(t *testing.T) {
	l := newSidecars(t, 1, hotMesh)
	l.set(next(hotMesh))
	l.settle()
	l.set(next(hotMesh) + "updateStrategy: {paused: true}")
	l.seconds(2)
	if got := imagesOf(l.pod("web-1")); got != "mesh-1=mesh:1.0 mesh-2=mesh:2.0 main=web:1.0" {
		t.Errorf("paused: %s", got)
	}
	l.set(next(hotMesh))
	l.settle()
	if got := imagesOf(l.pod("web-1")); got != "mesh-1=mesh:empty mesh-2=mesh:2.0 main=web:1.0" {
		t.Errorf("resumed: %s", got)
	}
}

// TestSidecarSet_Revisions: only what is put into pods makes a revision, and its
// name is a cluster's.
func TestSidecarSet_Revisions(t *testing.T) {
	l := newSidecars(t, 0, mesh)
	for _, step := range []struct {
		what, body, want string
		stored           int
	}{
		{"strategy", mesh + "updateStrategy: {partition: 2}", "meshset-7bd6fbfb77", 1},
		{"selector", strings.Replace(mesh, "app: web", "app: shop", 1), "meshset-7bd6fbfb77", 1},
		{"image", next(mesh), "meshset-6cd998dc78", 2},
		{"volume", next(mesh) + "volumes: [{name: v, emptyDir: {}}]", "", 3},
		{"back", mesh + "customVersion: v1", "meshset-7bd6fbfb77", 3},
	} {
		l.set(step.body)
		l.settle()
		if got := l.sidecars().LatestRevision; step.want != "" && got != step.want || len(l.revisions) != step.stored {
			t.Errorf("%s: %s, %d revisions", step.what, got, len(l.revisions))
		}
	}
	for i := range 12 {
		l.set(strings.Replace(mesh, "1.0", fmt.Sprintf("4.%d", i), 1))
		l.settle()
	}
	if len(l.revisions) != 11 || slices.ContainsFunc(l.revisions, func(r cluster.Revision) bool { return r.Name == "meshset-6cd998dc78" }) {
		t.Errorf("%d revisions are kept", len(l.revisions))
	}
}

// TestSidecarSet_CustomVersion: a stored revision keeps the version that pods may
// ask for.
func TestSidecarSet_CustomVersion(t *testing.T) {
	l := newSidecars(t, 0, mesh+"customVersion: v1")
	if got := l.revisions[0].Template["customVersion"]; got != "v1" {
		t.Errorf("customVersion %v", got)
	}
	l.set(next(mesh) + "injectionStrategy: {revision: {customVersion: v1}}")
	l.settle()
	l.join(1)
	if got := imagesOf(l.pod("web-1")); got != "mesh=mesh:1.0 main=web:1.0" {
		t.Errorf("injected %s", got)
	}
}

func TestWakesSidecarSet(t *testing.T) {
	l := newSidecars(t, 1, mesh)
	p := l.pod("web-1")
	deleting, renamed := *p, p.With(cluster.PodChange{Labels: map[string]*string{"a": new("b")}}, l.now)
	deleting.Deleting = true
	restarted := *p
	restarted.Containers = slices.Clone(p.Containers)
	restarted.Containers[0].ImageID = "other"
	rolling, never := &kruise.SidecarSet{}, &kruise.SidecarSet{}
	never.Spec.UpdateStrategy.Type = kruise.NotUpdateSidecarSetStrategyType
	for _, c := range []struct {
		name           string
		before, after  *cluster.Pod
		rolling, never bool
	}{
		{"created", nil, p, true, true},
		{"gone", p, nil, true, true},
		{"terminates", p, &deleting, true, true},
		{"not ready", p, unready(p), true, false},
		{"other containers", p, &restarted, true, false},
		{"a label", p, renamed, false, false},
	} {
		if got := [2]bool{WakesSidecarSet(rolling, c.before, c.after), WakesSidecarSet(never, c.before, c.after)}; got != [2]bool{c.rolling, c.never} {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
