package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// twoPod runs main and side, in service.
func twoPod() *cluster.Pod {
	p := &cluster.Pod{
		Name: "web-1", UID: "u1", Phase: corev1.PodRunning, ReadinessGates: []string{kruise.InPlaceUpdateReady},
		Labels: map[string]string{"controller-revision-hash": "web-old", kruise.LifecycleStateLabel: "Normal"},
		Containers: []cluster.Container{
			{Name: "main", Image: "web:1", StatusImage: "web:1", ImageID: "sha256:1", Reported: true, Ready: true},
			{Name: "side", Image: "log:1", StatusImage: "log:1", ImageID: "sha256:2", Reported: true, Ready: true},
		},
	}
	return p.With(cluster.PodChange{Conditions: []cluster.Condition{cluster.SetTo(kruise.InPlaceUpdateReady, corev1.ConditionTrue, "", "")}}, labStart)
}

var bothImages = rules.InPlaceSpec{Images: map[string]string{"main": "web:2", "side": "log:2"}, NotReady: true}

func updateTo(spec rules.InPlaceSpec, grace int32) *inPlaceUpdate {
	return &inPlaceUpdate{spec: spec, revision: "web-new", labels: map[string]string{"controller-revision-hash": "web-new"}, grace: grace}
}

// texts shows the labels or annotations of a change; "-" is a removal.
func texts(m map[string]*string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if v == nil {
			out[k] = "-"
		} else {
			out[k] = *v
		}
	}
	return out
}

const (
	stateKey = kruise.InPlaceUpdateStateAnnotation
	graceKey = kruise.InPlaceUpdateGraceAnnotation
)

// TestStartInPlace: annotations as recorded in 006, 020, 024 and 075.
func TestStartInPlace(t *testing.T) {
	prioritized := func(p *cluster.Pod) { p.Containers[0].Priority, p.Containers[1].Priority = new(0), new(-1) }
	for _, c := range []struct {
		name        string
		spec        rules.InPlaceSpec
		grace       int32
		edit        func(*cluster.Pod)
		annotations map[string]string
		images      map[string]string
		restart     []string
		inService   bool
	}{
		{
			name: "one image", spec: rules.InPlaceSpec{Images: map[string]string{"main": "web:2"}, NotReady: true},
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"}},"updateImages":true,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`},
			images:      map[string]string{"main": "web:2"},
		},
		{
			name: "both images", spec: bothImages,
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"},"side":{"imageID":"sha256:2"}},"updateImages":true,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main","side"]}]}`},
			images:      map[string]string{"main": "web:2", "side": "log:2"},
		},
		{
			name: "the lower priority waits", spec: bothImages, edit: prioritized,
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"}},"updateImages":true,"nextContainerImages":{"side":"log:2"},"preCheckBeforeNext":{"containersRequiredReady":["main"]},"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`},
			images:      map[string]string{"main": "web:2"},
		},
		{
			name: "metadata only", spec: rules.InPlaceSpec{NotReady: true, Metadata: rules.Metadata{Labels: map[string]*string{"tier": new("b"), "old": nil}, Annotations: map[string]*string{"note": new("x")}}},
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":[]}]}`, "note": "x"},
		},
		{
			name: "an annotation that main reads", spec: rules.InPlaceSpec{NotReady: true, Refs: map[string]rules.Metadata{"main": {Annotations: map[string]*string{"level": new("debug")}}}},
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null,"updateEnvFromMetadata":true,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`, "level": "debug"},
			restart:     []string{"main"},
		},
		{
			name: "an annotation whose reader waits", edit: prioritized,
			spec:        rules.InPlaceSpec{NotReady: true, Images: map[string]string{"main": "web:2"}, Refs: map[string]rules.Metadata{"side": {Annotations: map[string]*string{"level": new("debug")}}}},
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":{"main":{"imageID":"sha256:1"}},"updateEnvFromMetadata":true,"updateImages":true,"nextContainerRefMetadata":{"side":{"annotations":{"level":"debug"}}},"preCheckBeforeNext":{"containersRequiredReady":["main"]},"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`},
			images:      map[string]string{"main": "web:2"},
		},
		{
			name: "a grace period announces", spec: rules.InPlaceSpec{Images: map[string]string{"main": "web:2"}, NotReady: true}, grace: 6,
			annotations: map[string]string{
				stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null,"updateImages":true}`,
				graceKey: `{"revision":"web-new","containerImages":{"main":"web:2"},"graceSeconds":6}`,
			},
		},
		{
			name: "a grace period keeps metadata", grace: 6, spec: rules.InPlaceSpec{NotReady: true, Metadata: rules.Metadata{Labels: map[string]*string{"old": nil}}},
			annotations: map[string]string{
				stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null}`,
				graceKey: `{"revision":"web-new","metaDataPatch":"eyJtZXRhZGF0YSI6eyJsYWJlbHMiOnsib2xkIjpudWxsfX19","graceSeconds":6}`,
			},
		},
		{
			name: "resources stay in service", spec: rules.InPlaceSpec{Resources: map[string]any{"main": map[string]any{}}}, inService: true,
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null,"updateResources":true,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":["main"]}]}`},
		},
		{
			name: "a pod without the gate", spec: rules.InPlaceSpec{NotReady: true}, edit: func(p *cluster.Pod) { p.ReadinessGates = nil }, inService: true,
			annotations: map[string]string{stateKey: `{"revision":"web-new","updateTimestamp":"2026-07-01T12:00:00Z","lastContainerStatuses":null,"containerBatchesRecord":[{"timestamp":"2026-07-01T12:00:00Z","containers":[]}]}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := twoPod()
			if c.edit != nil {
				c.edit(p)
			}
			got := updateTo(c.spec, c.grace).start(p, labStart.Add(300*time.Millisecond))
			if diff := cmp.Diff(c.annotations, texts(got.Annotations)); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.images, got.Images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.restart, got.Restart); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
			if got := texts(got.Labels)["controller-revision-hash"]; got != "web-new" {
				t.Errorf("revision label %q", got)
			}
			if inService := len(got.Conditions) == 0; inService != c.inService {
				t.Errorf("conditions %v", got.Conditions)
			}
		})
	}
}

// TestRefreshInPlace follows a pod through its update; each step is one look.
func TestRefreshInPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  rules.InPlaceSpec
		grace int32
		edit  func(*cluster.Pod)
		// node runs what the pod asks for before each look but the first.
		want []string
	}{
		{"one batch", bothImages, 0, nil, []string{"", "ready"}},
		{"two batches", bothImages, 0, func(p *cluster.Pod) { p.Containers[0].Priority, p.Containers[1].Priority = new(0), new(-1) }, []string{"", "log:2", "ready"}},
		{"metadata only is complete at once", rules.InPlaceSpec{NotReady: true}, 0, nil, []string{"ready"}},
		{"grace period", bothImages, 2, nil, []string{"wait 2s", "wait 1s", "web:2 log:2 announced -", "ready"}},
		{"no readiness gate", bothImages, 0, func(p *cluster.Pod) { p.ReadinessGates, p.Conditions = nil, nil }, []string{"", ""}},
		{"two batches without a readiness gate", bothImages, 0, func(p *cluster.Pod) {
			p.ReadinessGates, p.Conditions = nil, nil
			p.Containers[0].Priority, p.Containers[1].Priority = new(0), new(-1)
		}, []string{"", "log:2", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, now := twoPod(), labStart
			if c.edit != nil {
				c.edit(p)
			}
			change := updateTo(c.spec, c.grace).start(p, now)
			label(&change, kruise.LifecycleStateLabel, "Updating")
			p = p.With(change, now)
			var got []string
			for i := range c.want {
				if i > 0 {
					now = now.Add(time.Second)
					p = ran(p)
				}
				said, change := look(p, now)
				got, p = append(got, said), p.With(change, now)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ran is a pod after its node has done what it asks for.
func ran(p *cluster.Pod) *cluster.Pod {
	q := *p
	q.Containers = append([]cluster.Container(nil), p.Containers...)
	for i := range q.Containers {
		c := &q.Containers[i]
		c.StatusImage, c.ImageID = c.Image, "sha256:"+c.Image
	}
	return &q
}

// look refreshes a pod and says what that does.
func look(p *cluster.Pod, now time.Time) (string, cluster.PodChange) {
	var c cluster.PodChange
	wait := (&View{Now: now}).refreshInPlace(&c, p)
	var said []string
	if wait > 0 {
		said = append(said, "wait "+wait.String())
	}
	for _, name := range []string{"main", "side"} {
		if image := c.Images[name]; image != "" {
			said = append(said, image)
		}
	}
	if v, ok := texts(c.Annotations)[graceKey]; ok {
		said = append(said, "announced "+v)
	}
	for _, set := range c.Conditions {
		if set.Status == corev1.ConditionTrue {
			said = append(said, "ready")
		}
	}
	return strings.Join(said, " "), c
}

// TestGrace_EndsWithAnotherUpdate: the template changed during the grace period, and the pod's
// label with it; what was announced is dropped.
func TestGrace_EndsWithAnotherUpdate(t *testing.T) {
	p := twoPod()
	p = p.With(updateTo(bothImages, 2).start(p, labStart), labStart)
	p = p.With(cluster.PodChange{Labels: map[string]*string{"controller-revision-hash": new("web-other")}}, labStart)
	said, c := look(p, labStart.Add(time.Minute))
	if said != "announced -" || len(c.Images) > 0 {
		t.Errorf("%q, %v", said, c.Images)
	}
}

// TestRefreshInPlace_LeavesOtherPodsAlone: nothing of a pod at rest is decoded, even what cannot be.
func TestRefreshInPlace_LeavesOtherPodsAlone(t *testing.T) {
	p := twoPod().With(cluster.PodChange{Annotations: map[string]*string{stateKey: new("{")}}, labStart)
	if said, c := look(p, labStart); said != "" || !c.Empty() {
		t.Errorf("%q, %+v", said, c)
	}
	p = p.With(cluster.PodChange{Labels: map[string]*string{kruise.LifecycleStateLabel: new("Updating")}}, labStart)
	if said, c := look(p, labStart); said != "" || !c.Empty() {
		t.Errorf("a record that cannot be read: %q, %+v", said, c)
	}
}

// TestNewPod_BecomesReady: the condition that a new pod's gate waits for.
func TestNewPod_BecomesReady(t *testing.T) {
	p := &cluster.Pod{ReadinessGates: []string{kruise.InPlaceUpdateReady}}
	if said, _ := look(p, labStart); said != "ready" {
		t.Errorf("%q", said)
	}
}

func TestUpdates(t *testing.T) {
	template := func(image, env string) map[string]any {
		c := map[string]any{"name": "main", "image": image}
		if env != "" {
			c["env"] = []any{map[string]any{"name": "A", "value": env}}
		}
		return map[string]any{"spec": map[string]any{"containers": []any{c}}}
	}
	all := []cluster.Revision{
		{Name: "web-image", Template: template("web:1", "")},
		{Name: "web-env", Template: template("web:2", "b")},
		{Name: "web-same", Template: template("web:2", "")},
		{Name: "web-new", Template: template("web:2", "")},
	}
	for _, c := range []struct {
		revision string
		policy   rules.UpdatePolicy
		gate     bool
		mode     rules.UpdateMode
		inPlace  bool
	}{
		{"web-image", rules.PolicyInPlaceIfPossible, true, rules.ModeInPlace, true},
		{"web-image", rules.PolicyInPlaceIfPossible, false, rules.ModeRecreate, false},
		{"web-image", rules.PolicyRecreate, true, rules.ModeRecreate, false},
		{"web-image", "", true, rules.ModeRecreate, false},
		{"web-env", rules.PolicyInPlaceIfPossible, true, rules.ModeRecreate, false},
		{"web-env", rules.PolicyInPlaceOnly, true, rules.ModeNotAllowed, false},
		{"web-gone", rules.PolicyInPlaceIfPossible, true, rules.ModeRecreate, false},
		{"web-same", rules.PolicyInPlaceIfPossible, true, rules.ModeUnchanged, true},
		{"web-same", rules.PolicyRecreate, true, rules.ModeUnchanged, false},
	} {
		u := &updates{view: &View{}, all: all, update: all[3], policy: c.policy, revision: "web-new", needsGate: true}
		p := &cluster.Pod{Name: "p", Labels: map[string]string{"controller-revision-hash": c.revision}}
		if c.gate {
			p.ReadinessGates = []string{"InPlaceUpdateReady"}
		}
		for range 2 {
			mode, why, update := u.of(p)
			if mode != c.mode || why == "" || (update != nil) != c.inPlace {
				t.Errorf("%s under %q: %s, %s, %v", c.revision, c.policy, mode, why, update)
			}
		}
		if len(u.known) != 1 {
			t.Errorf("templates were compared %d times", len(u.known))
		}
	}
}

// TestClient_ReleasesThePod: without Kruise, a pod that was held not ready and whose template was
// taken back before its containers changed serves again.
func TestClient_ReleasesThePod(t *testing.T) {
	hook := &kruise.LifecycleHook{LabelsHandler: map[string]string{"held": "true"}, MarkPodNotReady: true}
	u := InPlace{Lifecycle: &kruise.Lifecycle{InPlaceUpdate: hook}}
	p := &cluster.Pod{
		Labels:         map[string]string{kruise.LifecycleStateLabel: string(rules.StatePreparingUpdate), "held": "true"},
		ReadinessGates: []string{kruise.KruisePodReady},
	}
	p.Conditions = []cluster.Condition{cluster.SetTo(kruise.KruisePodReady, corev1.ConditionFalse, "", `[{"userAgent":"Lifecycle","key":"preUpdateHook"}]`)}
	change, ok := u.Continue(p, rules.NodeReport{}, labStart)
	if !ok || *change.Labels[kruise.LifecycleStateLabel] != string(rules.StateNormal) {
		t.Fatalf("%+v", change)
	}
	if len(change.Conditions) != 1 || change.Conditions[0].Status != corev1.ConditionTrue {
		t.Errorf("still not ready: %+v", change.Conditions)
	}
}
