package pod_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/demo"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

func of(kind, namespace, name string) cluster.Ref {
	return cluster.Ref{Group: "apps.kruise.io", Kind: kind, Namespace: namespace, Name: name}
}

// at is the shop of the demo, held still, with a pod of a workload on the screen: one
// with the new template where there is one, changed as a test wants it.
func at(t *testing.T, ref cluster.Ref, change func(*cluster.Pod)) (tui.Options, *tuitest.Still) {
	t.Helper()
	shop, err := demo.Start(t.Context(), demo.Options{Seed: 1, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := shop.Await(t.Context(), 0, world.Want{Workload: ref})
	if err != nil {
		t.Fatal(err)
	}
	q := w.Detail.Question
	i := 0
	for j, p := range q.Snapshot.Pods {
		if w.Detail.Updated[p.UID] {
			i = j
		}
	}
	pods, changed := append([]*cluster.Pod{}, q.Snapshot.Pods...), *q.Snapshot.Pods[i]
	changed.Containers = slices.Clone(changed.Containers)
	changed.Labels, changed.Annotations = maps.Clone(changed.Labels), maps.Clone(changed.Annotations)
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	if change != nil {
		change(&changed)
	}
	pods[i] = &changed
	q.Snapshot.Pods = pods
	next := *w
	next.Detail = world.Describe(q, w.Detail.Events)
	still := tuitest.NewStill(next)
	first := screen.Open{Screen: screen.Pod, Ref: ref, Pod: world.PodName(ref, &changed)}
	return tui.Options{Source: still, Actions: still, First: first}, still
}

// inTrouble is a pod that crashes, with what the node reports about it.
func inTrouble(p *cluster.Pod) {
	p.Containers[0].Waiting, p.Containers[0].Ready, p.Containers[0].Restarts = "CrashLoopBackOff", false, 3
	p.Conditions = []cluster.Condition{{Type: "Ready", Status: corev1.ConditionFalse, Reason: "ContainersNotReady"}}
	p.Containers[0].Message = "back-off 40s restarting failed container=app"
	p.Containers[0].Ended = "Error, exit code 1"
}

// busy is a pod in the middle of everything: containers from before and beside, one
// updated in place with the next one waiting, a lifecycle hook, gates.
func busy(p *cluster.Pod) {
	app := p.Containers[0]
	app.Image, app.StatusImage, app.ImageID, app.Ready = "registry.example.com/web/storefront:4.8.0", "registry.example.com/web/storefront:4.7.1", "sha256:0123456789abcdef", false
	cache := cluster.Container{Name: "cache", Image: "registry.example.com/web/cache:7", Reported: true, StatusImage: "registry.example.com/web/cache:7", ImageID: "docker-pullable://registry.example.com/web/cache@sha256:fedcba9876543210", Ready: true, Restarts: 2}
	p.Containers = []cluster.Container{app, cache}
	p.InitContainers = []cluster.Container{
		{Name: "migrate", Image: "registry.example.com/web/migrate:3", Reported: true, Ready: true},
		{Name: "logship", Image: "registry.example.com/ops/logship:2", Native: true, Reported: true, Ready: true},
	}
	p.Labels[kruise.LifecycleStateLabel] = "PreparingUpdate"
	p.Annotations[kruise.LifecycleTimestampAnnotation] = "2026-03-01T11:58:00Z"
	p.Annotations[kruise.InPlaceUpdateStateAnnotation] = `{"revision":"storefront-7d9c","updateTimestamp":"2026-03-01T11:59:30Z",` +
		`"lastContainerStatuses":{"app":{"imageID":"sha256:0123456789abcdef"}},"nextContainerImages":{"cache":"registry.example.com/web/cache:8"},` +
		`"preCheckBeforeNext":{"containersRequiredReady":["app"]}}`
	p.Annotations[kruise.SidecarSetInjectedListAnnotation] = "logs"
	p.ReadinessGates = []string{"InPlaceUpdateReady", "example.com/warm"}
	since := time.Date(2026, 3, 1, 11, 59, 30, 0, time.UTC)
	p.Conditions = []cluster.Condition{
		{Type: "Ready", Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: "the gate InPlaceUpdateReady is not True", Since: since},
		{Type: "InPlaceUpdateReady", Status: corev1.ConditionFalse, Reason: "StartInPlaceUpdate", Since: since},
		{Type: "PodScheduled", Status: corev1.ConditionTrue, Since: since.Add(-time.Hour)},
		{Type: "SidecarSetUpgradable", Status: corev1.ConditionFalse, Reason: "UpdateImmutableField", Since: since.Add(-time.Hour)},
	}
}

var (
	checkout   = of("CloneSet", "shop", "checkout")
	storefront = of("CloneSet", "shop", "storefront")
	basket     = of("CloneSet", "shop", "basket")
)

func TestScreen_EqualsTheGoldens(t *testing.T) {
	o, _ := at(t, checkout, inTrouble)
	tuitest.Golden(t, "crash", o, func(s *tuitest.Session) string { return s.Until("✖ failing", "CONTAINER", "BLOCKED BY", "logs") })
	o, _ = at(t, storefront, busy)
	tuitest.Golden(t, "busy", o, func(s *tuitest.Session) string { return s.Until("not ready", "CONTAINER", "BLOCKED BY", "logs") })
	tuitest.Golden(t, "end", o, func(s *tuitest.Session) string {
		s.Until("CONTAINER")
		s.Press("G")
		return s.Until("EVENTS", "logs")
	})
	o, _ = at(t, basket, nil)
	tuitest.Golden(t, "sidecar", o, func(s *tuitest.Session) string { return s.Until("up to date with", "CONTAINER", "proxy-1", "logs") })
}

// TestScreen_ShowsAllPartsOfAPod: all that is asked of the screen is on it.
func TestScreen_ShowsAllPartsOfAPod(t *testing.T) {
	o, _ := at(t, storefront, busy)
	tuitest.Start(t, o, tuitest.Sizes[2]).Until(
		"0123456789ab", "fedcba987654", "migrate", "has run", "native sidecar",
		"PreparingUpdate for 119s", "to storefront-7d9c 29s ago", "app still runs what it ran before", "next: cache gets 8, once app is ready",
		"logs  of no revision", "example.com/warm", "not set: counts as False", "gate StartInPlaceUpdate", "UpdateImmutableField",
	)
	o, _ = at(t, basket, nil)
	tuitest.Start(t, o, tuitest.Sizes[2]).Until("SIDECARS", "mesh  revision", "proxy-1, proxy-2", "works", "sidecarset/mesh")
	o, _ = at(t, checkout, inTrouble)
	tuitest.Start(t, o, tuitest.Sizes[2]).Until("back-off 40s", "failed last: Error, exit code 1", "p shows why it ended", "EVENTS", "CrashLoopBackOff")
}

// TestScreen_ShowsAnAnnouncedUpdate: a change in place that waits for its grace period.
func TestScreen_ShowsAnAnnouncedUpdate(t *testing.T) {
	o, _ := at(t, storefront, func(p *cluster.Pod) {
		p.Annotations[kruise.InPlaceUpdateGraceAnnotation] = `{"revision":"r","containerImages":{"app":"web/storefront:4.9"},"graceSeconds":60}`
		p.Annotations[kruise.InPlaceUpdateStateAnnotation] = `{"revision":"r","updateTimestamp":"2026-03-01T11:59:40Z"}`
	})
	tuitest.Start(t, o, tuitest.Sizes[1]).Until("announced: app gets 4.9, in 40s")
}

// TestScreen_ToleratesBrokenAnnotations: annotations of other programs do no harm.
func TestScreen_ToleratesBrokenAnnotations(t *testing.T) {
	o, _ := at(t, storefront, func(p *cluster.Pod) {
		for _, a := range []string{kruise.SidecarSetHashAnnotation, kruise.InPlaceUpdateStateAnnotation, kruise.InPlaceUpdateGraceAnnotation, kruise.SidecarSetWorkingHotUpgradeAnnotation} {
			p.Annotations[a] = "{"
		}
		p.Containers, p.Conditions = nil, nil
	})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("CONTAINER", "not ready")
	s.Press("down", "space", "enter", "y")
	s.Until("pod/storefront")
}

// TestRestart_IsAboutSelectedContainers checks a restart of the container of the cursor, and of
// marked ones.
func TestRestart_IsAboutSelectedContainers(t *testing.T) {
	o, still := at(t, storefront, busy)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("CONTAINER")
	s.Press("down", "R")
	s.Until("Restart container cache in pod storefront-", "y yes")
	s.Press("y")
	s.Until("restart: done")
	s.Press("k", "space", "space", "R")
	s.Until("containers app, cache in pod", "y yes")
	s.Press("y")
	s.Gone("y yes")
	s.Press("R")
	s.Until("containers app, cache in pod", "y yes")
	if acts := still.Acts(); len(acts[0].Containers) != 1 || len(acts[1].Containers) != 2 || len(acts[1].Pods) != 1 {
		t.Errorf("%+v", acts)
	}
}

// TestKeys_OpenScreensOfThePod: the keys to what belongs to the pod.
func TestKeys_OpenScreensOfThePod(t *testing.T) {
	o, still := at(t, storefront, busy)
	name := o.First.Pod
	still.Texts = map[string]string{name: "kind: Pod\nmetadata: {name: " + name + "}\n"}
	still.Tell("cache", "a line of the cache")
	still.Tell("cache previous", "a line from before")
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("CONTAINER")
	s.Press("j", "l")
	s.Until("container cache", "a line of the cache")
	s.Press("esc", "p")
	s.Until("before its last restart", "a line from before")
	s.Press("esc", "y")
	s.Until("pod/"+name+" as YAML", "kind: Pod")
	s.Press("esc", "d")
	s.Until("describe pod/"+name, "kind: Pod")
	s.Press("esc", "x")
	s.Until("no shell here")
}

// TestScreen_ScrollsBelowTheContainers moves down past the last container, and back to it.
func TestScreen_ScrollsBelowTheContainers(t *testing.T) {
	o, _ := at(t, storefront, busy)
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("more lines")
	s.Press("j", "j", "j")
	s.Until("› logship")
	for range 40 {
		s.Press("j")
	}
	s.Gone("more lines")
	s.Press("g")
	s.Until("› logship", "◐ not ready")
}

// TestScreen_OfADeletedPod: the pod goes away under one's eyes.
func TestScreen_OfADeletedPod(t *testing.T) {
	o, still := at(t, storefront, nil)
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("CONTAINER")
	w, _ := still.Await(t.Context(), 0, world.Want{})
	next, d := *w, *w.Detail
	d.Snapshot.Pods = nil
	next.Detail = &d
	still.Show(next)
	frame := tuitest.Plain(s.Until("does not exist"))
	if strings.Contains(frame, "CONTAINER") {
		t.Error(frame)
	}
	s.Press("j", "enter", "space", "R")
	s.Until("nothing is selected to restart")
}
